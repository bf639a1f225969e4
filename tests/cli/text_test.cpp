// The small parts of the command line: numbers, ranges, bars and tables.
#include <gtest/gtest.h>

#include "base/numbers.h"
#include "base/progress.h"
#include "cli/options/options.h"
#include "cli/options/session.h"
#include "cli/terminal/fitted.h"
#include "cli/terminal/live_table.h"

namespace tessera::cli {
namespace {

using Sizes = std::vector<std::int64_t>;

TEST(Numbers, SizesAreValuesListsAndRanges) {
  EXPECT_EQ(parse_sizes("-m", "7"), (Sizes{7}));
  EXPECT_EQ(parse_sizes("-m", "1,5,2"), (Sizes{1, 5, 2}));
  EXPECT_EQ(parse_sizes("-m", "0:10:4"), (Sizes{0, 4, 8}));
  EXPECT_EQ(parse_sizes("-m", "1:9:x2"), (Sizes{1, 2, 4, 8}));
  EXPECT_EQ(parse_sizes("-m", "3,8:16:8"), (Sizes{3, 8, 16}));
  EXPECT_EQ(parse_sizes("-m", "4611686018427387904:9223372036854775807:x2"),
            (Sizes{std::int64_t{1} << 62}));
  for (const char* bad : {"", "a", "1.5", "1:2", "2:1:1", "1:2:0", "0:4:x2", "1:4:x1", "1:2:3:4",
                          ",", "1 2", "0x10", "+3"}) {
    EXPECT_THROW(parse_sizes("-m", bad), StatusError) << bad;
  }
}

TEST(Numbers, RealNumbers) {
  EXPECT_EQ(parse_real("--alpha", "-1.5"), -1.5);
  EXPECT_EQ(parse_real("--alpha", "1e-3"), 1e-3);
  for (const char* bad : {"", "x", "1.5x", "1,5", " 1"}) {
    EXPECT_THROW(parse_real("--alpha", bad), StatusError) << bad;
  }
}

TEST(Numbers, Split) {
  EXPECT_EQ(split("a,b", ','), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
  EXPECT_EQ(split("a,", ','), (std::vector<std::string>{"a", ""}));
}

TEST(Options, ShapesAreTheCrossOfSizes) {
  ProblemOptions options;
  EXPECT_EQ(shapes_of(options, {1, 2, 3}).at(0).k, 3);
  options.m = "2,4";
  EXPECT_EQ(shapes_of(options, {}).size(), 2u);
  EXPECT_EQ(shapes_of(options, {}).at(1).n, 4);
  options.n = "3";
  options.k = "5,6,7";
  EXPECT_EQ(shapes_of(options, {}).size(), 6u);
  EXPECT_EQ(shapes_of(options, {}).back().k, 7);
}

TEST(Options, ProblemsAreTheCrossOfShapesLayoutsAndOrders) {
  ProblemOptions options;
  options.m = "8,9";
  options.layout = "NN,TT";
  options.order = "all";
  options.ldb = "20";
  const std::vector<Problem> problems = problems_of(options, kF64Types, {});
  ASSERT_EQ(problems.size(), 8u);
  EXPECT_EQ(layout_of(problems.back()), "TT");
  EXPECT_EQ(problems.back().order, Order::kRowMajor);
  EXPECT_EQ(problems.back().m, 9);
  EXPECT_EQ(problems.back().lda, 9);
  EXPECT_EQ(problems.back().ldb, 20);
}

TEST(Session, ACommandSaysOnlyWhatDiffersFromTheDefaults) {
  const KernelChoice kernel = choose_kernels("02/16x16").front();
  Problem problem;
  problem.m = 8;
  problem.n = 9;
  problem.k = 10;
  problem.ldb = 11;
  problem.alpha = -1.5;
  EXPECT_EQ(
      repeat_command("bench", kernel, with_default_ld(problem), "virtual", 3),
      "tessera bench --device virtual --kernel 02_coalesced/16x16 -m 8 -n 9 -k 10 --layout NN "
      "--order col --ldb 11 --alpha -1.5 --seed 3");
}

TEST(Progress, ABarWithTheTimeLeft) {
  EXPECT_EQ(progress_line(0, 4, "a", 9), "[........................] 0/4  a");
  EXPECT_EQ(progress_line(1, 4, "b", 30), "[######..................] 1/4  1:30 left  b");
  EXPECT_EQ(progress_line(4, 4, "c", 30), "[########################] 4/4  c");
  EXPECT_EQ(progress_line(0, 0, "", 0), "[........................] 0/0  ");
  EXPECT_EQ(progress_line(1, 2, std::string(200, 'x'), 5).size(), 79u);
  EXPECT_EQ(progress_line(1, 2, "xyz", 5, 20), "[############.......");
}

TEST(LiveTable, AlignsByWhatIsKnownBefore) {
  const LiveTable table({{"rung", 6, false}, {"n", 4, true}});
  EXPECT_EQ(table.header(), "rung       n\n------  ----\n");
  EXPECT_EQ(table.line({"01", "12"}), "01        12\n");
  EXPECT_EQ(table.line({"long name", "12345"}), "long name  12345\n");
  const LiveTable notes({{"n", 4, true}, {"note", 9, false}});
  EXPECT_EQ(notes.line({"1", "slow"}), "   1  slow\n") << "no blanks at the end";
  EXPECT_EQ(notes.line({"1", ""}), "   1\n");
}

const Table kTable{{"name", "n", "words", "more"},
                   {{"one", "1", "a text of several words", "x"}, {"two", "22", "short", "y"}}};

TEST(Fitted, ColumnsByImportanceAndWordsOverLines) {
  const Fit fit{{"words", "n"}, {"words"}};
  EXPECT_EQ(fitted(kTable, fit, 0), render(kTable, Format::kText));
  EXPECT_EQ(fitted(kTable, fit, 39), render(kTable, Format::kText)) << "it just fits";
  EXPECT_EQ(fitted(kTable, fit, 36),
            "name   n  words\n"
            "----  --  -----------------------\n"
            "one    1  a text of several words\n"
            "two   22  short\n\n"
            "A wider terminal, or --md PATH, also\nshows: more\n");
  const Table long_words{{"name", "words"}, {{"one", "a text of several words, and more"}}};
  EXPECT_EQ(fitted(long_words, fit, 32),
            "name  words\n"
            "----  ------------------------\n"
            "one   a text of several words,\n"
            "      and more\n");
  EXPECT_TRUE(fitted(kTable, {{"more", "n"}, {}}, 14).starts_with("name   n  more\n"));
}

TEST(Fitted, WrappedIsNoLongerThanItMay) {
  EXPECT_EQ(wrapped("one two three", 0), "one two three");
  EXPECT_EQ(wrapped("one two three", 8), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(wrapped("abcdefgh", 3), "abc\ndef\ngh");
  EXPECT_EQ(wrapped("a abcdef", 3), "a\nabc\ndef");
}

}  // namespace
}  // namespace tessera::cli
