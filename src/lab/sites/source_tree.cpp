#include "lab/sites/source_tree.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "lab/sites/text_diff.h"

namespace tessera::lab {
namespace {

namespace fs = std::filesystem;

// Returns the nearest of `folder` and the folders above it that is the repository; "" if none is.
std::string repository_above(fs::path folder) {
  std::error_code error;
  for (; !folder.empty(); folder = folder.parent_path()) {
    if (fs::exists(folder / "src/ladder/shared/common.h", error)) return folder.string();
    if (folder == folder.parent_path()) break;
  }
  return {};
}

}  // namespace

std::string source_root() {
  std::error_code error;
  std::string root = repository_above(fs::current_path(error));
  if (!root.empty()) return root;
  return repository_above(fs::read_symlink("/proc/self/exe", error).parent_path());
}

std::optional<std::string> SourceTree::file(const std::string& path) const {
  if (root_.empty()) return std::nullopt;
  std::ifstream stream(root_ + "/" + path, std::ios::binary);
  if (!stream) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::optional<std::string> SourceTree::line(const std::string& path, int number) const {
  const std::optional<std::string> text = file(path);
  if (!text || number < 1) return std::nullopt;
  const std::vector<std::string_view> lines = lines_of(*text);
  if (static_cast<std::size_t>(number) > lines.size()) return std::nullopt;
  std::string_view line = lines[number - 1];
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == line.npos) return std::string();
  const std::size_t end = line.find_last_not_of(" \t\r");
  return std::string(line.substr(begin, end - begin + 1));
}

}  // namespace tessera::lab
