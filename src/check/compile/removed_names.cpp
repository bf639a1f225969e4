#include "check/compile/removed_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

namespace tessera::checking {
namespace {

std::map<std::string, std::string> all_replacements() {
  // SOURCE: release notes of CUDA 12 and 13: names deprecated in earlier releases, then removed.
  std::map<std::string, std::string> all = {{"cudaThreadSynchronize", "cudaDeviceSynchronize"},
                                            {"cudaThreadExit", "cudaDeviceReset"}};
  for (const char* end : {"GetLimit", "SetLimit", "GetCacheConfig", "SetCacheConfig"}) {
    all[fmt::format("cudaThread{}", end)] = fmt::format("cudaDevice{}", end);
  }
  for (const char* member :
       {"clockRate", "memoryClockRate", "deviceOverlap", "computeMode", "kernelExecTimeoutEnabled",
        "singleToDoublePrecisionPerfRatio", "cooperativeMultiDeviceLaunch"}) {
    all[member] = "multiProcessorCount";  // another number of the same struct
  }
  for (const char* lanes :
       {"__shfl", "__shfl_up", "__shfl_down", "__shfl_xor", "__any", "__all", "__ballot"}) {
    all[lanes] = fmt::format("{}_sync(__activemask(), __VA_ARGS__)", lanes);
  }
  return all;
}

// Returns X of 'identifier "X" is undefined' and of 'class "C" has no member "X"'.
std::optional<std::string> name_in(const std::string& line) {
  const bool is_member = line.find("has no member") != line.npos;
  if (!is_member && line.find("is undefined") == line.npos) return std::nullopt;
  const std::size_t end = line.rfind('"');
  const std::size_t begin = end == line.npos || end == 0 ? line.npos : line.rfind('"', end - 1);
  if (begin == line.npos) return std::nullopt;
  return line.substr(begin + 1, end - begin - 1);
}

}  // namespace

std::vector<std::string> replacements_for(const std::string& said) {
  static const std::map<std::string, std::string> kAll = all_replacements();
  std::vector<std::string> words;
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error: ") == line.npos) continue;
    const std::optional<std::string> name = name_in(line);
    const auto found = name ? kAll.find(*name) : kAll.end();
    if (found == kAll.end()) return {};
    const bool takes_any = found->second.ends_with(")");
    const std::string word =
        fmt::format("{}{} {}", found->first, takes_any ? "(...)" : "", found->second);
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }
  return words;
}

}  // namespace tessera::checking
