// PTX next to machine code: equal operations share a row, in the order of both.
#include "sass/report/ptx_beside.h"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

#include "tests/sass/programs.h"

namespace tessera::sass {
namespace {

struct Beside {
  KernelReport report;
  std::string_view ptx;
};

Beside kernel_of(std::string_view entry) {
  for (const CodeImage* image : images_of_catalog()) {
    const CubinFile cubin = read_cubin(image->cubin);
    const CubinKernel* const kernel = cubin.find(std::string(entry));
    if (kernel) return {report_of(*kernel, cubin.sm), image->ptx};
  }
  throw std::runtime_error("no kernel of the catalog has that name");
}

std::vector<std::string> rows_with(const std::string& text, const std::string& words) {
  std::vector<std::string> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(words) != line.npos) rows.push_back(line);
  }
  return rows;
}

// Rung 05 reads its tiles as the source says: 64 loads and 32 multiply-adds on both sides. ptxas
// moves a few multiplies after the loads that follow them.
TEST(PtxBeside, EqualOperationsShareARow) {
  const Beside rung = kernel_of("rung_05_conflict_free__32x32x32");
  const std::string text = ptx_beside(rung.report, rung.ptx);
  int shared_rows = 0;
  for (const std::string& row : rows_with(text, "fma.rn")) {
    shared_rows += row.find(" FFMA ") != row.npos;
  }
  EXPECT_GE(shared_rows, 24) << text;
  for (const std::string& row : rows_with(text, "ld.volatile.shared")) {
    EXPECT_EQ(row.find("FFMA"), row.npos) << row;
  }
  EXPECT_EQ(rows_with(text, "bar.sync").size(), 2u) << text;
  for (const std::string& row : rows_with(text, "bar.sync")) {
    EXPECT_NE(row.find("BAR"), row.npos) << row;
  }
}

// ptxas merges the loads of rung 22 in pairs, and the table says so.
TEST(PtxBeside, ShowsWhatWasMerged) {
  const Beside rung = kernel_of("rung_22_packed_shared__8x8");
  const std::string text = ptx_beside(rung.report, rung.ptx);
  const std::vector<std::string> narrow = rows_with(text, "LDS.64 "),
                                 wide = rows_with(text, "LDS.128 ");
  ASSERT_FALSE(narrow.empty());
  ASSERT_FALSE(wide.empty());
  std::istringstream before(narrow.front()), after(wide.front());
  std::string name;
  int in_ptx = 0, in_code = 0;
  before >> name >> in_ptx >> in_code;
  EXPECT_GT(in_ptx, 0);
  EXPECT_EQ(in_code, 0);
  int wide_in_ptx = 0, wide_in_code = 0;
  after >> name >> wide_in_ptx >> wide_in_code;
  EXPECT_EQ(wide_in_ptx, 0);
  EXPECT_EQ(wide_in_code, in_ptx / 2);
}

// Each instruction of both loops is printed once.
TEST(PtxBeside, LosesNothing) {
  const Beside rung = kernel_of("rung_12_warp_tile__128x128x8_ak_bn");
  const std::string text = ptx_beside(rung.report, rung.ptx);
  EXPECT_EQ(rows_with(text, " FFMA R").size(),
            static_cast<std::size_t>(rung.report.main_loop()->mix[Kind::kFfma]));
  for (const std::size_t at : rung.report.main_loop()->members) {
    EXPECT_NE(text.find(rung.report.operations[at].text), text.npos);
  }
}

TEST(PtxBeside, RefusesWhatHasNoPtxOrNoLoop) {
  const Beside rung = kernel_of("rung_05_conflict_free__32x32x32");
  EXPECT_THROW(ptx_beside(rung.report, ""), std::invalid_argument);
  KernelReport without_loops = rung.report;
  without_loops.loops.clear();
  EXPECT_THROW(ptx_beside(without_loops, rung.ptx), std::invalid_argument);
}

}  // namespace
}  // namespace tessera::sass
