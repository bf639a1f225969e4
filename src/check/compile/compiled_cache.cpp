#include "check/compile/compiled_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>

#include "base/hash.h"

namespace tessera::checking {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHeading = "tessera ptx 1";
constexpr std::size_t kMostFiles = 200;

std::string folder() {
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text ? text : "");
  };
  const std::string wish = value("TESSERA_CACHE");
  if (wish == "off") return "";
  if (!wish.empty()) return wish;
  if (const std::string cache = value("XDG_CACHE_HOME"); !cache.empty()) return cache + "/tessera";
  const std::string home = value("HOME");
  return home.empty() ? "" : home + "/.cache/tessera";
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the size and time of a file as text. The text changes whenever the file changes.
std::string stamp_of(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return "gone";
  const auto time = fs::last_write_time(path, error).time_since_epoch().count();
  return fmt::format("{} {}", size, time);
}

// Returns the files in a make rule: "kernel.ptx : a.cu b.h \\ ...".
std::vector<std::string> files_of_rule(const std::string& rule) {
  std::istringstream words(rule.substr(std::min(rule.find(':') + 1, rule.size())));
  std::vector<std::string> files;
  for (std::string word; words >> word;) {
    if (word != "\\") files.push_back(word);
  }
  return files;
}

// Removes the oldest entries of the cache.
void make_room(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& one : fs::directory_iterator(folder, error)) files.push_back(one.path());
  if (files.size() <= kMostFiles) return;
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    std::error_code ignored;
    return fs::last_write_time(a, ignored) < fs::last_write_time(b, ignored);
  });
  files.resize(files.size() - kMostFiles);
  for (const fs::path& file : files) fs::remove(file, error);
}

}  // namespace

CompiledCache::CompiledCache(const std::vector<std::string>& words) {
  const std::string where = folder();
  std::error_code error;
  if (where.empty()) return;
  fs::create_directories(where, error);
  std::string key = fs::current_path(error).string() + "\n" + stamp_of(words.at(0)) + "\n";
  for (const std::string& word : words) key += word + "\n";
  path_ = fmt::format("{}/{}.ptx", where, hash_of(std::as_bytes(std::span<const char>(key))));
}

// An entry is a heading, a line for each file with its stamp, an empty line, and the PTX.
std::optional<std::string> CompiledCache::find() const {
  if (path_.empty()) return std::nullopt;
  const std::string text = contents(path_);
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != kHeading) return std::nullopt;
  while (std::getline(lines, line) && !line.empty()) {
    const std::size_t tab = line.find('\t');
    if (tab == line.npos || stamp_of(line.substr(0, tab)) != line.substr(tab + 1)) {
      return std::nullopt;
    }
  }
  return lines ? std::optional(text.substr(static_cast<std::size_t>(lines.tellg()))) : std::nullopt;
}

void CompiledCache::keep(const std::string& ptx, const std::string& rule) const {
  const std::vector<std::string> files = files_of_rule(contents(rule));
  if (path_.empty() || files.empty()) return;
  const std::string unfinished = fmt::format("{}.{}", path_, getpid());
  std::ofstream out(unfinished, std::ios::binary);
  out << kHeading << '\n';
  for (const std::string& file : files) out << file << '\t' << stamp_of(file) << '\n';
  out << '\n' << ptx;
  out.close();
  std::error_code error;
  if (out) {
    fs::rename(unfinished, path_, error);
  } else {
    fs::remove(unfinished, error);
  }
  make_room(fs::path(path_).parent_path());
}

}  // namespace tessera::checking
