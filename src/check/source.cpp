#include "check/source.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace tessera::checking {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 16 << 20;  // size of the largest source file that is shown

// Returns the path relative to the current folder if the file is in that folder; else `path`.
std::string shown_path(const std::string& path) {
  std::error_code error;
  const fs::path relative = fs::path(path).lexically_proximate(fs::current_path(error));
  if (error || relative.empty() || relative.string().starts_with("..")) return path;
  return relative.string();
}

// Returns the pairs of line and column in ".loc 1 12 3, function_name $L__info_string0, inlined_at
// 1 30 9".
std::vector<std::pair<int, int>> lines_of_loc(const std::string& directive) {
  std::vector<std::pair<int, int>> lines;
  std::istringstream words(directive);
  std::string word;
  while (words >> word) {
    if (word != ".loc" && word != "inlined_at") continue;
    int file = 0, line = 0, column = 0;
    if (words >> file >> line >> column) lines.emplace_back(line, column);
    words.clear();
  }
  return lines;
}

}  // namespace

int column_of(const std::string& ptx, int ptx_line, int source_line) {
  std::string last;
  std::istringstream lines(ptx);
  std::string line;
  for (int number = 1; number < ptx_line && std::getline(lines, line); ++number) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string::npos && line.compare(begin, 4, ".loc") == 0) last = line;
  }
  for (const auto& [found, column] : lines_of_loc(last)) {
    if (found == source_line) return column;
  }
  return 0;
}

const std::string& SourceLines::text_of_file(const std::string& path) {
  const auto [found, is_new] = files_.try_emplace(path);
  if (!is_new) return found->second;
  // A relative path starts in the folder where the compiler ran: the current folder, or the folder
  // of the checked file.
  const fs::path beside = fs::path(code_.path).parent_path() / path;
  for (const fs::path& candidate : {fs::path(path), beside}) {
    std::error_code error;
    if (!fs::is_regular_file(candidate, error)) continue;
    if (fs::file_size(candidate, error) > kMostBytes || error) continue;
    std::ifstream stream(candidate, std::ios::binary);
    found->second.assign(std::istreambuf_iterator<char>(stream), {});
    break;
  }
  return found->second;
}

ShownLine SourceLines::at(const vgpu::FindingPlace& place) {
  ShownLine shown;
  if (place.source_file.empty()) {
    shown.file = code_.path;
    shown.line = place.ptx_line;
    if (code_.path.ends_with(".ptx")) shown.text = line_of(code_.ptx, place.ptx_line);
  } else {
    shown = at(place.source_file, place.source_line);
    shown.column = column_of(code_.ptx, place.ptx_line, place.source_line);
  }
  return shown;
}

ShownLine SourceLines::at(const std::string& file, int line) {
  return {shown_path(file), line, 0, line_of(text_of_file(file), line)};
}

}  // namespace tessera::checking
