#include "tests/house/repository.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace tessera::house {
namespace {

namespace fs = std::filesystem;

bool is_skipped_folder(const std::string& name) {
  const bool hidden = name.starts_with(".") && name != ".ci";
  return hidden || name.starts_with("build") || name == "__pycache__" || name == "shared";
}

bool is_text_of_ours(const fs::path& path) {
  static const std::set<std::string> kEndings = {".h",    ".hpp", ".cpp", ".cu",    ".ptx",
                                                 ".md",   ".py",  ".txt", ".cmake", ".in",
                                                 ".json", ".sh",  ".yml", ""};
  const std::string name = path.filename().string();
  return (!name.starts_with(".") || name.starts_with(".clang")) &&
         kEndings.contains(path.extension().string());
}

std::vector<SourceFile> read_all() {
  std::vector<SourceFile> files;
  const fs::path root = TESSERA_SOURCE_DIR;
  for (auto entry = fs::recursive_directory_iterator(root); entry != end(entry); ++entry) {
    if (entry->is_directory() && is_skipped_folder(entry->path().filename().string())) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file() && is_text_of_ours(entry->path())) {
      std::ifstream file(entry->path(), std::ios::binary);
      files.push_back({fs::relative(entry->path(), root).generic_string(),
                       std::string(std::istreambuf_iterator<char>(file), {})});
    }
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

// Length of the comment or literal that starts at text[at]; 0 if none does.
std::size_t blank_length(std::string_view text, std::size_t at) {
  const auto until = [&](std::string_view end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return (found == text.npos ? text.size() : found + end.size()) - at;
  };
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("//")) return until("\n", at) - 1;
  if (rest.starts_with("/*")) return until("*/", at + 2);
  if (rest.starts_with("R\"")) {
    const std::string tag(rest.substr(2, rest.find('(') - 2));
    return until(")" + tag + "\"", at);
  }
  // A quote inside a number (1'000) opens nothing.
  const bool opens_char =
      rest.starts_with("'") && (at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1])));
  if (!rest.starts_with("\"") && !opens_char) return 0;
  std::size_t end = 1;
  while (end < rest.size() && rest[end] != rest[0] && rest[end] != '\n') {
    end += rest[end] == '\\' ? 2 : 1;
  }
  return std::min(end + 1, rest.size());
}

}  // namespace

const std::vector<SourceFile>& all_files() {
  static const std::vector<SourceFile> files = read_all();
  return files;
}

std::vector<SourceFile> files_in(std::string_view folder,
                                 const std::vector<std::string_view>& endings) {
  std::vector<SourceFile> chosen;
  for (const SourceFile& file : all_files()) {
    const bool fits = std::ranges::any_of(
        endings, [&](std::string_view ending) { return file.path.ends_with(ending); });
    if (fits && file.path.starts_with(folder)) chosen.push_back(file);
  }
  return chosen;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string without_comments_and_literals(std::string_view text) {
  std::string result(text);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = blank_length(text, at);
    for (std::size_t i = at; i < at + length; ++i) {
      if (result[i] != '\n') result[i] = ' ';
    }
    at += std::max<std::size_t>(length, 1);
  }
  return result;
}

}  // namespace tessera::house
