// The repository as the house tests see it: its source files, by path relative to the root.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::house {

struct SourceFile {
  std::string path;  // "src/lab/data/fill.cpp"
  std::string text;
};

// All text files of ours: no build folders, nothing hidden but .ci, sorted by path.
const std::vector<SourceFile>& all_files();

// Those under one folder ("src/") with one of the given endings (".h", ".cpp", ".cu").
std::vector<SourceFile> files_in(std::string_view folder,
                                 const std::vector<std::string_view>& endings);

std::vector<std::string> lines_of(const std::string& text);

// C++ text with comments and literals blanked out; line breaks stay.
std::string without_comments_and_literals(std::string_view text);

}  // namespace tessera::house
