// What a person sees in a terminal: tables as wide as it is, a bar while something runs, and
// nothing of the bar afterwards; and that files and pipes get none of that.
#include "tests/support/terminal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

namespace tessera {
namespace {

using Words = std::vector<std::string>;

const Words kLadder = {"ladder", "--device", "virtual", "--kernel", "01,16,23", "-m", "16"};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The ladder's rows, its names of columns first. What stands around it is text, which may wrap.
std::vector<std::string> table_of(const RanInTerminal& ran) {
  Screen endless(10000);
  endless.write(ran.bytes);
  std::vector<std::string> rows;
  for (const std::string& line : lines_of(endless.text())) {
    if (std::regex_search(line, std::regex("^(rung |---|\\d\\d_)"))) rows.push_back(line);
  }
  return rows;
}

// Names of columns are two spaces apart.
Words columns_of(const std::string& header) {
  const std::regex name("\\S+( \\S+)*");
  return {std::sregex_token_iterator(header.begin(), header.end(), name), {}};
}

bool shows_a_bar(const std::string& text) { return contains(text, "[#") || contains(text, "[.."); }

TEST(Terminal, TheLadderIsAsWideAsItIs) {
  std::size_t length = 0, count = 0;
  for (const int columns : {80, 120, 160, 240}) {
    const RanInTerminal ran = run_in_terminal(kLadder, columns);
    EXPECT_EQ(ran.code, 0) << ran.bytes;
    const std::vector<std::string> table = table_of(ran);
    ASSERT_EQ(table.size(), 5u) << ran.bytes;
    const Words shown = columns_of(table.front());
    EXPECT_GT(table.at(1).size(), length) << columns;
    EXPECT_GE(shown.size(), count) << columns;
    length = table.at(1).size(), count = shown.size();
    for (const std::string& row : table) EXPECT_LE(row.size(), std::size_t(columns)) << row;
    for (const char* always : {"rung", "verified", "limited by", "FLOP/byte"}) {
      EXPECT_NE(std::ranges::find(shown, always), shown.end()) << columns << ' ' << always;
    }
    EXPECT_EQ(std::ranges::find(shown, "idea") != shown.end(), columns >= 160) << columns;
    EXPECT_EQ(contains(ran.bytes, "A wider terminal"), columns < 240) << ran.bytes;
  }
  EXPECT_EQ(count, columns_of(lines_of(run_program(kLadder).out).at(2)).size());
}

// Whatever the width, no row is longer than it, down to the columns that are always there.
TEST(Terminal, NoRowOfTheLadderIsLonger) {
  const Words call = {"ladder", "--device", "virtual", "--kernel", "01,16", "-m", "16"};
  const std::size_t all = table_of(run_in_terminal(call, 400)).front().size();
  for (std::size_t columns = 76; columns <= all; columns += 3) {
    for (const std::string& row : table_of(run_in_terminal(call, int(columns)))) {
      EXPECT_LE(row.size(), columns) << row;
    }
  }
}

TEST(Terminal, ABarIsShownAndWiped) {
  const std::vector<Words> calls = {
      kLadder,
      {"verify", "--device", "virtual", "--kernel", "01,02", "-m", "16", "-n", "16", "-k", "16"},
      {"bench", "--device", "virtual", "--kernel", "01,02", "-m", "16", "-n", "16", "-k", "16"},
      {"roofline", "01,02", "-m", "64"}};
  for (const Words& call : calls) {
    for (const int columns : {40, 80, 240}) {
      const RanInTerminal ran = run_in_terminal(call, columns);
      EXPECT_TRUE(shows_a_bar(ran.bytes)) << call.front() << '\n' << ran.bytes;
      EXPECT_FALSE(shows_a_bar(ran.screen.text())) << call.front() << '\n' << ran.screen.text();
      EXPECT_TRUE(ran.bytes.ends_with("\n") || ran.bytes.ends_with("\x1b[K")) << ran.bytes;
      EXPECT_EQ(ran.screen.lines().back(), "") << call.front();
    }
  }
}

// All that a command prints; "The last row again" is a command to copy, which is left whole.
std::vector<std::string> printed_lines(const RanInTerminal& ran) {
  Screen endless(10000);
  endless.write(ran.bytes);
  std::vector<std::string> lines = lines_of(endless.text());
  std::erase_if(lines, [](const auto& line) { return line.starts_with("The last row again: "); });
  return lines;
}

// Whatever the width: nothing is longer than it, and nothing is missing without a word.
TEST(Terminal, NoLineOfTheOtherTablesIsLonger) {
  const std::pair<Words, Words> calls[] = {
      {{"list", "--kernel", "rungs"}, {"12_warp_tile", "25_dmma"}},
      {{"list", "--kernel", "wgmma_bf16,12"}, {"wgmma_bf16", "12_warp_tile"}},
      {{"doctor", "--device", "virtual"}, {"host memory", "01_strided at"}},
      {{"roofline", "01,34", "-m", "64"}, {"01_strided", "Not drawn: 34_tensor_copies"}},
      {{"bench", "--device", "virtual", "--kernel", "01,12/all", "-m", "16"}, {"12_warp_tile"}},
      {{"bench", "--device", "virtual", "--why", "-m", "128"}, {"nothing ran", "128"}},
      {{"verify", "--device", "virtual", "--kernel", "01", "-m", "16"}, {"01_strided"}}};
  for (const auto& [call, parts] : calls) {
    for (const int columns : {40, 57, 80, 132, 400}) {
      const RanInTerminal ran = run_in_terminal(call, columns);
      EXPECT_EQ(ran.code, 0) << ran.bytes;
      for (const std::string& line : printed_lines(ran)) {
        EXPECT_LE(line.size(), std::size_t(columns)) << call.front() << ' ' << line;
      }
      const std::string words = std::regex_replace(ran.screen.text(), std::regex("\\s+"), " ");
      for (const std::string& part : parts) {
        EXPECT_TRUE(contains(words, part)) << columns << ": " << part << '\n' << words;
      }
    }
  }
}

// A row of list holds its configs at 80 columns, over several lines where they need those.
TEST(Terminal, WordsOfATableGoOnInTheNextLine) {
  const Words call = {"list", "--kernel", "wgmma_bf16"};
  const RanInTerminal ran = run_in_terminal(call, 80);
  for (const char* config : {"128x256x64_s4_coop", "64x64x64_s2_x4", "128x128x64_s6_pp_split"}) {
    EXPECT_TRUE(contains(ran.screen.text(), config)) << ran.screen.text();
  }
  EXPECT_TRUE(contains(ran.screen.text(), "A wider terminal, or --md PATH, also shows: "));
  EXPECT_FALSE(contains(run_in_terminal(call, 400).screen.text(), "A wider terminal"));
  EXPECT_FALSE(contains(run_program(call).out, "A wider terminal"));
}

// What was there stays, and the bar of what was not does not.
TEST(Terminal, ABarIsWipedWhereCtrlCEndsIt) {
  const Words call = {"ladder", "--device", "virtual", "--kernel", "01,02,03,04,05", "-m", "256"};
  const RanInTerminal ran = interrupt_in_terminal(call, 80, "] 1/5");
  EXPECT_EQ(ran.code, 130) << ran.bytes;
  EXPECT_GE(table_of(ran).size(), 3u) << ran.bytes;
  EXPECT_LT(table_of(ran).size(), 7u) << ran.bytes;
  EXPECT_FALSE(shows_a_bar(ran.screen.text())) << ran.screen.text();
  EXPECT_EQ(ran.screen.lines().back(), "");
}

// Seconds alone differ from run to run.
std::string without_seconds(const std::string& text) {
  return std::regex_replace(text, std::regex("0[.]\\d{5}"), "seconds");
}

TEST(Terminal, FilesAndPipesGetTheWholeTable) {
  const std::string piped = without_seconds(run_program(kLadder).out);
  EXPECT_EQ(without_seconds(run_program(kLadder).out), piped);
  EXPECT_FALSE(contains(piped, "\x1b"));
  EXPECT_EQ(without_seconds(run_in_terminal(kLadder, 240).screen.text()), piped + "\n");
  for (const int columns : {20, 80}) {
    const RanInTerminal ran = run_in_terminal(kLadder, columns, InTerminal::kErr);
    EXPECT_EQ(without_seconds(ran.elsewhere.out), piped) << columns;
    EXPECT_TRUE(shows_a_bar(ran.bytes)) << ran.bytes;
    EXPECT_EQ(ran.screen.text(), "\n");
    EXPECT_FALSE(ran.screen.has_wrapped()) << ran.bytes;
  }
}

TEST(Terminal, AFileOfErrorsGetsNoBar) {
  const RanInTerminal ran = run_in_terminal(kLadder, 80, InTerminal::kOut);
  EXPECT_EQ(ran.elsewhere.err, "");
  EXPECT_FALSE(contains(ran.bytes, "\x1b")) << ran.bytes;
  EXPECT_EQ(table_of(ran).size(), 5u);
}

TEST(Terminal, TheScreenIsOne) {
  Screen screen(5);
  screen.write("ab\r\nabcde\r\x1b[Kx\r\n");
  EXPECT_EQ(screen.text(), "ab\nx\n\n");
  EXPECT_FALSE(screen.has_wrapped());
  screen.write("abcdef\r\x1b[K");
  EXPECT_EQ(screen.text(), "ab\nx\nabcde\n\n");
  EXPECT_TRUE(screen.has_wrapped());
}

}  // namespace
}  // namespace tessera
