// What a room's code may say, beside what it may include.
#include <gtest/gtest.h>

#include <cctype>
#include <regex>

#include "tests/house/repository.h"

namespace tessera::house {
namespace {

// Text in quotes that names an option of the command line, "--lda is 3"; of the lab, whose advice
// may show a whole command, text that begins with one.
bool names_an_option(const std::string& line, bool of_lab = false) {
  bool is_quoted = false;
  for (std::size_t i = 0; i + 2 < line.size() && !(line[i] == '/' && line[i + 1] == '/'); ++i) {
    if (line[i] == '"') is_quoted = !is_quoted;
    const bool is_option = line[i] == '-' && line[i + 1] == '-' && std::islower(line[i + 2]);
    if (is_quoted && is_option && (!of_lab || line[i - 1] == '"')) return true;
  }
  return false;
}

// The library's callers have no command line: its messages name fields, and cli/options/fields.cpp
// turns them into options. The check room has a language of its own, that of `check`.
TEST(Rooms, MessagesOfTheLibraryNameNoOption) {
  int files = 0;
  for (const std::string room :
       {"base", "problem", "launch", "arch", "catalog", "gemm", "device", "lab"}) {
    for (const SourceFile& file : files_in("src/" + room + "/", {".h", ".cpp"})) {
      const std::vector<std::string> lines = lines_of(file.text);
      for (std::size_t i = 0; i < lines.size(); ++i) {
        EXPECT_FALSE(names_an_option(lines[i], room == "lab"))
            << file.path << ":" << i + 1 << ": " << lines[i];
      }
      ++files;
    }
  }
  EXPECT_GT(files, 100) << "run from the root of the repository";
}

TEST(Rooms, PlantedOptionsAreFound) {
  EXPECT_TRUE(names_an_option("  return refused(\"--lda is too small\");"));
  EXPECT_TRUE(names_an_option("text += \"use --device virtual\" + more;"));
  EXPECT_FALSE(names_an_option("// takes what \"--lda\" says"));
  EXPECT_FALSE(names_an_option("text += \"---\";"));
  EXPECT_TRUE(names_an_option("refuse(\"--fill is\");", true));
  EXPECT_FALSE(names_an_option("text += \"a file that bench --json wrote\";", true));
  EXPECT_FALSE(names_an_option("for (i = 9; i > 0; --i) text += \"a\";"));
}

// The library runs on devices that nobody observes.
TEST(Rooms, GemmAsksForNoObserver) {
  static const std::regex kObserver("\\b([Oo]bserver|observe|take_counts|LaunchCounts)\\b");
  for (const SourceFile& file : files_in("src/gemm/", {".h", ".cpp"})) {
    EXPECT_FALSE(std::regex_search(file.text, kObserver)) << file.path;
  }
}

// A newcomer finds a place from names alone, so no folder holds more than these; the instruction
// tests, one a form, are found by their names.
// So a new command compiles two files.
TEST(Rooms, OneFileReadsTheListOfCommands) {
  int readers = 0;
  for (const SourceFile& file : files_in("src/", {".h", ".cpp"})) {
    readers += file.text.find("#include \"cli/commands.inc\"") != std::string::npos;
    if (file.path.ends_with(".h")) {
      EXPECT_EQ(file.text.find("commands.inc\""), std::string::npos) << file.path;
    }
  }
  EXPECT_EQ(readers, 1);
}

}  // namespace
}  // namespace tessera::house
