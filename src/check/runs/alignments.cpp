#include "check/runs/alignments.h"

#include <fmt/format.h>

#include <cstdlib>

#include "check/code.h"

namespace tessera::checking {
namespace {

constexpr long kMostAlignment = 1024;

// Returns "smem" for "_ZZ6kernelPfE4smem".
std::string own_name(const std::string& mangled) {
  const std::string name = plain_kernel_name(mangled);
  const std::size_t scope = name.rfind("::");
  return scope == name.npos ? name : name.substr(scope + 2);
}

}  // namespace

std::vector<std::string> loose_alignments(const std::string& ptx) {
  const std::string kWords = ".shared .align ";
  std::vector<std::string> sentences;
  for (std::size_t at = 0; (at = ptx.find(kWords, at)) != ptx.npos;) {
    at += kWords.size();
    const long alignment = std::strtol(ptx.c_str() + at, nullptr, 10);
    const std::size_t end = ptx.find_first_of("[;", at);
    if (end == ptx.npos) break;
    const std::size_t begin = ptx.find_last_of(" \t", end) + 1;
    if (alignment <= kMostAlignment || begin < at) continue;
    sentences.push_back(fmt::format(
        "shared array {} asks for an address that is a multiple of {}, but code for sm_90 places "
        "it behind the first 1024 bytes of shared memory: what computes with its address (xor) may "
        "meet other elements",
        own_name(ptx.substr(begin, end - begin)), alignment));
  }
  return sentences;
}

}  // namespace tessera::checking
