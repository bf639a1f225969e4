// Reads source lines for reports, which show the text of the costliest lines. The program embeds no
// source: it reads the tree that it was built from, if that still exists.
#pragma once

#include <optional>
#include <string>

namespace tessera::lab {

// Returns the repository above the current folder, or above the program itself; "" if neither
// contains src/ladder.
std::string source_root();

class SourceTree {
 public:
  explicit SourceTree(std::string root = source_root()) : root_(std::move(root)) {}

  bool is_there() const { return !root_.empty(); }
  const std::string& root() const { return root_; }
  // Returns a file by its path in the repository, "src/ladder/shared/common.h"; nullopt if it
  // cannot be read.
  std::optional<std::string> file(const std::string& path) const;
  // Returns one line of a file, counted from 1, without spaces around it; nullopt if there is no
  // such line.
  std::optional<std::string> line(const std::string& path, int number) const;

 private:
  std::string root_;
};

}  // namespace tessera::lab
