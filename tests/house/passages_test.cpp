// A passage that is written twice is mended once. Outside of the rungs, which repeat their kernels
// so that each can be read alone, no 20 lines of code in a row are equal to 20 others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "tests/house/repository.h"

namespace tessera::house {
namespace {

constexpr std::size_t kPassage = 20;

struct Line {
  std::string code;  // without spaces at its ends
  std::string where;
};

std::string trimmed(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return line.substr(first, line.find_last_not_of(" \t") - first + 1);
}

// Lines that say something: no comments, includes, blank lines and lone brackets.
std::vector<Line> code_lines(const SourceFile& file) {
  std::vector<Line> kept;
  const std::vector<std::string> lines = lines_of(file.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string line = trimmed(lines[i]);
    const bool says_nothing =
        line.starts_with("//") || line.starts_with("#include") ||
        std::ranges::none_of(line, [](unsigned char c) { return std::isalnum(c) != 0; });
    if (!says_nothing) kept.push_back({line, file.path + ":" + std::to_string(i + 1)});
  }
  return kept;
}

// One sentence for each passage that has been seen before.
std::vector<std::string> repeated_passages(const std::vector<SourceFile>& files) {
  std::vector<std::string> found;
  std::map<std::string, std::string> seen;
  for (const SourceFile& file : files) {
    const std::vector<Line> lines = code_lines(file);
    for (std::size_t i = 0; i + kPassage <= lines.size(); ++i) {
      std::string passage;
      for (std::size_t k = i; k < i + kPassage; ++k) passage += lines[k].code + "\n";
      const auto [first, is_new] = seen.emplace(passage, lines[i].where);
      if (!is_new) found.push_back(lines[i].where + " repeats " + first->second);
    }
  }
  return found;
}

TEST(Passages, NoneOf20LinesIsWrittenTwice) {
  std::vector<SourceFile> files = files_in("src/", {".h", ".cpp", ".cu"});
  std::erase_if(files, [](const SourceFile& f) { return f.path.starts_with("src/ladder/"); });
  // Distances that a tool measures for each architecture: two may well have 20 equal ones in a row.
  std::erase_if(files, [](const SourceFile& f) {
    return f.path.starts_with("src/sass/model/latency_rows/") &&
           f.text.starts_with("// Written by tools/");
  });
  ASSERT_GT(files.size(), 300u);
  for (const std::string& passage : repeated_passages(files)) ADD_FAILURE() << passage;
}

TEST(Passages, APlantedOneIsFound) {
  std::string passage;
  for (int i = 0; i < 19; ++i) passage += "  call(" + std::to_string(i) + ");\n";
  const SourceFile first{"src/a.cpp", "int a;\n" + passage + "  last();\n}\n"};
  const SourceFile shifted{"src/b.cpp", passage + "\n  // a comment\n    last();\n"};
  const SourceFile shorter{"src/c.cpp", passage + "  other();\n"};
  EXPECT_EQ(repeated_passages({first, shifted}),
            std::vector<std::string>{"src/b.cpp:1 repeats src/a.cpp:2"});
  EXPECT_TRUE(repeated_passages({first, shorter}).empty());
}

}  // namespace
}  // namespace tessera::house
