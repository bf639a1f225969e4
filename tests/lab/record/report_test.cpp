#include "lab/record/report.h"

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

TEST(Report, BenchShowsWorkspaceAndCompanions) {
  Record whole = record("simt_f32", 8192, 58, 1.1), within = whole, other = whole;
  whole.workspace_bytes = 512 << 20;
  whole.within_vendor_workspace = Companion{};
  whole.within_vendor_workspace->tflops = 55.5;
  whole.within_vendor_workspace->ratio_to_vendor = 1.05;
  whole.ratio_to_other = 1.0125;
  within.workspace_bytes = (33 << 20) + (1 << 19);
  within.workspace_limit = 64 << 20;
  other.other_build = true;
  other.workspace_bytes = 0;
  const Table table = bench_table({whole, within, other});
  const auto cells = [&](const char* column) {
    const auto at = std::find(table.header.begin(), table.header.end(), column);
    std::vector<std::string> all;
    for (const auto& row : table.rows) all.push_back(row.at(at - table.header.begin()));
    return all;
  };
  using Cells = std::vector<std::string>;
  EXPECT_EQ(cells("workspace MiB"), (Cells{"512", "33.5 of 64", "-"}));
  EXPECT_EQ(cells("within 64 MiB"), (Cells{"55.50 (1.050)", "-", "-"}));
  EXPECT_EQ(cells("x other build"), (Cells{"1.012", "-", "-"}));
  EXPECT_EQ(cells("build"), (Cells{"-", "-", "other"}));
  const Table plain = bench_table({record("02_coalesced", 64, 1, 1)});
  for (const char* column : {"workspace MiB", "within 64 MiB", "x other build", "build"}) {
    EXPECT_EQ(std::count(plain.header.begin(), plain.header.end(), column), 0) << column;
  }
}

TEST(Report, TheLadderShowsWhatTheCountsSay) {
  Record r = record("03_a", 64, 1, 1);
  r.limited_by = "bank conflicts";
  r.counts.emplace();
  r.counts->fma.warp = 8;
  r.counts->flop = r.counts->useful_flop = 64;
  vgpu::MemoryCounts& loads = r.counts->memory.loads;
  r.counts->memory.counted = true;
  loads.global.requests = 2;
  loads.global.sectors = 5;
  loads.global.requested_bytes = 256;
  loads.shared.requests = 1;
  loads.shared.pair = {1, 5};
  const Table table = ladder_table({r, record("01_a", 64, 1, 1)}, 60);
  const auto cell = [&](std::size_t row, const char* column) {
    const auto at = std::find(table.header.begin(), table.header.end(), column);
    return at == table.header.end() ? "no column" : table.rows[row][at - table.header.begin()];
  };
  EXPECT_EQ(cell(0, "limited by"), "bank conflicts");
  EXPECT_EQ(cell(0, "sectors/request"), "2.50");
  EXPECT_EQ(cell(0, "excess/FMA"), "0.500");
  EXPECT_EQ(cell(0, "FLOP/byte"), "0.2500");
  EXPECT_EQ(cell(1, "limited by"), "-");
  Record unshared = r;
  unshared.counts->memory.loads.shared = {};
  const Table none = ladder_table({unshared}, 60);
  EXPECT_EQ(std::count(none.header.begin(), none.header.end(), "excess/FMA"), 0)
      << "no shared memory, no conflicts in it";
}

}  // namespace
}  // namespace tessera::lab
