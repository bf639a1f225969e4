#include "sass/report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "catalog/catalog.h"
#include "sass/report/report_json.h"
#include "tests/sass/programs.h"

namespace tessera::sass {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

KernelReport report_of_entry(const std::string& kernel, const std::string& entry) {
  for (const Kernel& candidate : all_kernels()) {
    if (candidate.name != kernel) continue;
    const CubinFile cubin = read_cubin(image_of(candidate, entry).cubin);
    return report_of(*cubin.find(entry), cubin.sm);
  }
  throw std::runtime_error("no such kernel");
}

KernelReport rung_11() {
  return report_of_entry("11_double_buffer", "rung_11_double_buffer__128x128x8_am_bn");
}

// A loop of 8 instructions by ptxas 13.0 for sm_90a: two sums of two multiply-adds each, one load.
CubinKernel handmade() {
  CubinKernel kernel{.name = "handmade", .registers = 40};
  kernel.code = {
      {0x0000040c12049981, 0x000ea2000c1e1900},  // @!P1 LDG.E R4, desc[UR12][R18.64+0x4]
      {0x000000160d0d7223, 0x044fe20000000000},  // FFMA R13, R13.reuse, R22, R0
      {0x000000160d0e7223, 0x000fe2000000000e},  // FFMA R14, R13, R22, R14
      {0x000000180c0d7223, 0x000fe2000000000d},  // FFMA R13, R12, R24, R13
      {0x000000180c0e7223, 0x000fe2000000000e},  // FFMA R14, R12, R24, R14
      {0xfffffffc0f0f7810, 0x000fe40007ffe0ff},  // IADD3 R15, R15, -0x4, RZ
      {0x000000ff0f00720c, 0x000fda0003f05270},  // ISETP.NE.AND P0, PT, R15, RZ, PT
      {0xfffffffc00e00947, 0x000fea000383ffff},  // @P0 BRA 0x0
      {0x000000000000794d, 0x000fea0003800000},  // EXIT
      {0xfffffffc00fc7947, 0x000fc0000383ffff},  // BRA 0x90
  };
  Loop loop{.begin = 0, .end = 8 * kInstructionBytes};
  for (std::size_t i = 0; i < 8; ++i) loop.members.push_back(i);
  kernel.loops = {loop};
  return kernel;
}

TEST(Report, CountsOfALoopByHand) {
  const KernelReport report = report_of(handmade(), 90);
  ASSERT_EQ(report.loops.size(), 1u);
  const LoopReport& loop = report.loops.front();
  EXPECT_EQ(report.operations[7].text, "@P0 BRA 0x0");
  EXPECT_EQ(loop.slots(), 8);
  EXPECT_EQ(loop.mix[Kind::kFfma], 4);
  EXPECT_EQ(loop.mix[Kind::kGlobalLoad], 1);
  EXPECT_EQ(loop.mix[Kind::kInteger], 1);
  EXPECT_DOUBLE_EQ(loop.ceiling(90), 0.5);
  EXPECT_DOUBLE_EQ(loop.ceiling(75), 1.0) << "16 lanes: the slots in between are free";
  EXPECT_EQ(loop.in_place, 3) << "the first adds R0 and writes R13";
  EXPECT_EQ(loop.sums, 2);
  EXPECT_DOUBLE_EQ(loop.unroll(), 2);
  EXPECT_EQ(loop.reuse_flags, 1);
  EXPECT_EQ(loop.global_bytes, 4);
  EXPECT_DOUBLE_EQ(loop.flop_per_byte(), 2);
  ASSERT_TRUE(loop.counter);
  EXPECT_EQ(loop.counter->name, "R15");
  EXPECT_EQ(loop.counter->step, -4);
  EXPECT_TRUE(loop.is_straight);
  EXPECT_TRUE(report.unknown.empty());
  EXPECT_EQ(report.main_loop(), &loop);
  EXPECT_EQ(loop.stalls, std::accumulate(report.operations.begin(), report.operations.begin() + 8,
                                         0, [](int sum, const Operation& operation) {
                                           return sum + operation.control.stall;
                                         }));
}

// What guards the sum and the comparison is read, too, and is neither's operand.
TEST(Report, CountersMayBeGuarded) {
  CubinKernel kernel = handmade();
  kernel.code[5].low = 0xfffffffc0f0f1810;  // @P1 IADD3 R15, R15, -0x4, RZ
  kernel.code[6].low = 0x000000ff0f00120c;  // @P1 ISETP.NE.AND P0, PT, R15, RZ, PT
  const KernelReport report = report_of(kernel, 90);
  ASSERT_TRUE(report.loops.at(0).counter);
  EXPECT_EQ(report.loops[0].counter->name, "R15");
  EXPECT_EQ(report.loops[0].counter->step, -4);
}

TEST(Report, ClashesAreThoseOfEachRule) {
  const KernelReport report = report_of(handmade(), 90);
  const LoopReport& loop = report.loops.at(0);
  const std::vector<Operation> body(report.operations.begin(), report.operations.begin() + 8);
  for (std::size_t i = 0; i < kBankModels.size(); ++i) {
    const BankClashes expected = bank_clashes(body, kBankModels[i]);
    EXPECT_EQ(loop.clashes[i].ffmas, 4) << i;
    EXPECT_EQ(loop.clashes[i].clashes, expected.clashes) << i;
    EXPECT_EQ(loop.clashes[i].hidden, expected.hidden) << i;
  }
}

TEST(Report, InstructionsThatNeverRunAreSpentSlots) {
  CubinKernel kernel = handmade();
  kernel.code[0] = {0x00000000fffff984, 0x000fe20000000800};  // @!PT LDS RZ, [RZ]
  const KernelReport report = report_of(kernel, 90);
  EXPECT_EQ(report.loops[0].mix[Kind::kNothing], 1);
  EXPECT_EQ(report.loops[0].mix[Kind::kSharedLoad], 0);
  EXPECT_EQ(report.loops[0].mix.of("LDS"), 0);
  EXPECT_EQ(report.loops[0].slots(), 8);
}

TEST(Report, UnknownOpcodesAreNamed) {
  CubinKernel kernel = handmade();
  kernel.code[4] = {0x00000000000077fe, 0x000fe20000000000};
  const KernelReport report = report_of(kernel, 90);
  EXPECT_EQ(report.unknown, std::vector<std::string>{"op_0x7fe"});
  EXPECT_TRUE(contains(render(report, {}), "op_0x7fe"));
}

TEST(Report, Rung11IsAnEightByEightTile) {
  const KernelReport report = rung_11();
  const LoopReport* loop = report.main_loop();
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->mix[Kind::kFfma], 512);
  EXPECT_EQ(loop->mix.of("LDS.128"), 32);
  EXPECT_EQ(loop->sums, 64);
  EXPECT_DOUBLE_EQ(loop->unroll(), 8);
  EXPECT_TRUE(loop->is_straight);
  EXPECT_TRUE(loop->reuse_faults.empty());
  EXPECT_EQ(loop->illegal_controls, 0);
  EXPECT_NEAR(loop->ceiling(90), 512.0 / loop->slots(), 1e-12);
  EXPECT_LT(loop->port_ceiling(90), loop->ceiling(90));
}

TEST(Report, EveryKernelOfTheCatalogAddsUp) {
  for (const CodeImage* image : images_of_catalog()) {
    const CubinFile cubin = read_cubin(image->cubin);
    for (const CubinKernel& entry : cubin.kernels) {
      const KernelReport report = report_of(entry, cubin.sm);
      EXPECT_EQ(report.mix.total(), static_cast<int>(entry.code.size())) << entry.name;
      EXPECT_EQ(report.illegal_controls, 0) << entry.name;
      for (const LoopReport& loop : report.loops) {
        EXPECT_EQ(loop.slots(), static_cast<int>(loop.members.size())) << entry.name;
        EXPECT_GE(loop.depth, 1);
        EXPECT_FALSE(verdict(report, loop).empty());
      }
    }
  }
}

TEST(Report, VerdictsTellMemoryFromArithmetic) {
  const KernelReport naive = report_of_entry("02_coalesced", "rung_02_coalesced__32x32");
  EXPECT_TRUE(contains(verdict(naive, *naive.main_loop()), "do not touch the SASS"));
  const KernelReport tiled = rung_11();
  EXPECT_FALSE(contains(verdict(tiled, *tiled.main_loop()), "do not touch the SASS"));
}

TEST(Report, TextShowsThePublishedTable) {
  const std::string text = render(rung_11(), {{"Occupancy", "2 blocks"}});
  for (const char* part : {"Occupancy: 2 blocks", "maxas, Maxwell", "512, in two blocks", "Rd = Rc",
                           "volta2", "kepler4", "Verdict: "}) {
    EXPECT_TRUE(contains(text, part)) << part;
  }
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    EXPECT_LE(end - at, 100u) << text.substr(at, end - at);
  }
}

TEST(Report, ListingsShowEveryInstruction) {
  const KernelReport report = report_of(handmade(), 90);
  const std::string text = listing(report);
  for (const Operation& operation : report.operations) {
    EXPECT_TRUE(contains(text, operation.text + "\n")) << operation.text;
  }
  EXPECT_TRUE(contains(text, "0x00010   1 - w- r- --2--- A--")) << text;
}

TEST(Report, PagesStandAlone) {
  const KernelReport report = report_of(handmade(), 90);
  const std::string page = html_page({report}, {{{"From", "a <test>"}}});
  EXPECT_TRUE(contains(page, "a &lt;test&gt;"));
  for (const char* part : {"http", "<script", "src=", "<link"}) {
    EXPECT_FALSE(contains(page, part)) << part;
  }
  for (const Operation& operation : report.operations) {
    EXPECT_TRUE(contains(page, operation.text)) << operation.text;
  }
}

TEST(Report, DiffsNameWhatChanged) {
  CubinKernel other = handmade();
  std::swap(other.code[3], other.code[4]);
  const KernelReport before = report_of(handmade(), 90), after = report_of(other, 90);
  EXPECT_TRUE(contains(render_diff(before, before), "Every instruction is the same."));
  EXPECT_TRUE(
      contains(render_diff(before, after), "2 of 10 instructions differ, 0 of them in their"));
  EXPECT_TRUE(contains(render_diff(before, rung_11()), "+508"));
}

TEST(Report, JsonHasTheSameNumbers) {
  const auto json = to_json(report_of(handmade(), 90), {{"From", "here"}}, true);
  EXPECT_EQ(json["loops"][0]["ffma"], 4);
  EXPECT_EQ(json["loops"][0]["mix"]["FFMA"]["names"]["FFMA"], 4);
  EXPECT_EQ(json["loops"][0]["ports"]["tag"], "model");
  EXPECT_EQ(json["instructions"][1]["reuse"], 1);
  EXPECT_EQ(json["notes"]["From"], "here");
  EXPECT_TRUE(json["source_lines"].is_null());
}

}  // namespace
}  // namespace tessera::sass
