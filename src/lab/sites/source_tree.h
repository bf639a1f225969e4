// Reports show the text of the lines that cost most. The program embeds no source: it reads the
// tree that it was built from, when that is there.
#pragma once

#include <optional>
#include <string>

namespace tessera::lab {

// The repository above the current folder, or above the program itself; empty when neither holds
// src/ladder.
std::string source_root();

class SourceTree {
 public:
  explicit SourceTree(std::string root = source_root()) : root_(std::move(root)) {}

  bool is_there() const { return !root_.empty(); }
  const std::string& root() const { return root_; }
  // A file by its place in the repository, "src/ladder/shared/common.h"; nullopt when it cannot be
  // read.
  std::optional<std::string> file(const std::string& path) const;
  // One line of it, counted from 1, without the space around; nullopt when there is none.
  std::optional<std::string> line(const std::string& path, int number) const;

 private:
  std::string root_;
};

}  // namespace tessera::lab
