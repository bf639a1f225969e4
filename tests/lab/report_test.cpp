#include "lab/report.h"

#include <gtest/gtest.h>

namespace tessera::lab {
namespace {

const Table kTable{{"kernel", "ms"}, {{"a|b", "1.5"}, {"x, \"y\"", "10.25"}, {"größe", "-"}}};

TEST(Report, TextIsAligned) {
  EXPECT_EQ(render(kTable, Format::kText),
            "kernel     ms\n"
            "------  -----\n"
            "a|b       1.5\n"
            "x, \"y\"  10.25\n"
            "größe       -\n");
}

TEST(Report, MarkdownEscapesBars) {
  EXPECT_EQ(render(kTable, Format::kMarkdown),
            "| kernel | ms |\n|---|---|\n| a\\|b | 1.5 |\n| x, \"y\" | 10.25 |\n| größe | - |\n");
}

TEST(Report, CsvQuotes) {
  EXPECT_EQ(render(kTable, Format::kCsv), "kernel,ms\na|b,1.5\n\"x, \"\"y\"\"\",10.25\ngröße,-\n");
}

Record record(const char* kernel, std::int64_t size, double tflops, double ratio) {
  Record r;
  r.kernel = kernel;
  r.idea = "an idea";
  r.problem = with_default_ld({size, size, size});
  r.mode = Mode::kBurst;
  r.time_ms = Summary{1, 1, 1, 5};
  r.tflops = tflops;
  r.ratio_to_vendor = ratio;
  return r;
}

TEST(Report, SizesStandSideBySide) {
  std::vector<Record> records{record("01_a", 1024, 0.5, 0.01), record("02_b", 1024, 12, 0.25),
                              record("02_b", 4096, 31.25, 0.5)};
  records.push_back(record("01_a", 4096, 99, 9));
  records.back().mode = Mode::kSustained;  // never mixed with bursts
  const Table table = ladder_sizes_table(records, Mode::kBurst);
  EXPECT_EQ(table.header, (std::vector<std::string>{"rung", "idea", "1024", "4096"}));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0], (std::vector<std::string>{"01_a", "an idea", "0.5000 (1 %)", "-"}));
  EXPECT_EQ(table.rows[1],
            (std::vector<std::string>{"02_b", "an idea", "12.00 (25 %)", "31.25 (50 %)"}));
}

TEST(Report, ColumnsWithoutAnyValueAreLeftOut) {
  Record r = record("01_a", 64, 1, 1);
  r.mode.reset();
  r.time_ms.reset();
  r.tflops.reset();
  r.ratio_to_vendor.reset();
  r.host_seconds = 0.5;
  const Table table = ladder_table({r}, 60);
  for (const std::string& column : table.header) {
    EXPECT_NE(column, "ms");
    EXPECT_NE(column, "of peak");
  }
  EXPECT_NE(std::find(table.header.begin(), table.header.end(), "host s"), table.header.end());
}

TEST(Report, ShareOfPeakAndMissingCells) {
  const Table table = ladder_table({record("01_a", 64, 30, 0.5), Record{}}, 60);
  const auto at = std::find(table.header.begin(), table.header.end(), "of peak");
  ASSERT_NE(at, table.header.end());
  EXPECT_EQ(table.rows[0][at - table.header.begin()], "50.0%");
  EXPECT_EQ(table.rows[1][at - table.header.begin()], "-");
}

TEST(Report, MarkersHoldWhatIsReplaced) {
  const std::string page = "before\n<!-- ladder begin -->\nold\n<!-- ladder end -->\nafter\n";
  const std::string once = replace_between_markers(page, "ladder", "new\n");
  EXPECT_EQ(once, "before\n<!-- ladder begin -->\nnew\n<!-- ladder end -->\nafter\n");
  EXPECT_EQ(replace_between_markers(once, "ladder", "new\n"), once);
  EXPECT_THROW(replace_between_markers(page, "other", "x"), StatusError);
  EXPECT_THROW(replace_between_markers("<!-- x end -->\n<!-- x begin -->\n", "x", ""), StatusError);
}

}  // namespace
}  // namespace tessera::lab
