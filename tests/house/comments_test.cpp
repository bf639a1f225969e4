// Comments that a reader understands at once: they name what they are about first.
#include <gtest/gtest.h>

#include <regex>

#include "tests/house/repository.h"

namespace tessera::house {
namespace {

bool is_comment(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first != std::string::npos && line.compare(first, 2, "//") == 0;
}

// Lines, counted from 1, at which a comment begins as the rest of a sentence: "Of ...", "That ...".
std::vector<std::size_t> fragments_in(const std::string& text) {
  static const std::regex kFragment(" *// (Of|That|Whose|Who) .*");
  const std::vector<std::string> lines = lines_of(text);
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool begins = i == 0 || !is_comment(lines[i - 1]);
    if (begins && std::regex_match(lines[i], kFragment)) found.push_back(i + 1);
  }
  return found;
}

TEST(Comments, BeginWithWhatTheyAreAbout) {
  for (const char* folder : {"src/", "include/", "tests/", "tools/"}) {
    for (const SourceFile& file : files_in(folder, {".h", ".hpp", ".cpp", ".cu", ".inc"})) {
      for (const std::size_t line : fragments_in(file.text)) {
        ADD_FAILURE() << file.path << ":" << line
                      << ": the comment begins with half a sentence; name what it is about first";
      }
    }
  }
}

TEST(Comments, PlantedFragmentsAreFound) {
  using Lines = std::vector<std::size_t>;
  EXPECT_EQ(fragments_in("int x;\n  // Of the first row.\nint y;\n"), Lines{2});
  EXPECT_EQ(fragments_in("// That it has.\n// Whose end.\n"), Lines{1});
  EXPECT_EQ(fragments_in("// The rows\n// Of the matrix.\n"), Lines{});
  EXPECT_EQ(fragments_in("int x;  // Of one row\n// Office hours\n"), Lines{});
}

}  // namespace
}  // namespace tessera::house
