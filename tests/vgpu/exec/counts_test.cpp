// Counts are exact: once a warp that issues with an active lane, and once for each such lane.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/vgpu/exec/run_ptx.h"

namespace tessera::vgpu {
namespace {

const InstructionReport* row(const LaunchReport& report, std::string_view form) {
  const auto found = std::find_if(report.instructions.begin(), report.instructions.end(),
                                  [&](const auto& r) { return r.form == form; });
  return found == report.instructions.end() ? nullptr : &*found;
}

TEST(Counts, WholeAndPartialWarps) {
  const auto ran = run_text(kernel_text("add.s32 r0, r0, 1;"), {0}, threads(48, 3));
  const auto* add = row(ran.report, "add.s32");
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(add->warp, 6u);
  EXPECT_EQ(add->thread, 144u);
}

TEST(Counts, GuardedInstructionsCountTheLanesThatRun) {
  const auto ran = run_text(kernel_text(R"(
    mov.u32 r0, %tid.x;
    setp.lt.u32 p, r0, 5;
    @p add.s32 r1, r1, 1;
    setp.gt.u32 q, r0, 100;
    @q sub.s32 r1, r1, 1;)"),
                            {0}, threads(64));
  EXPECT_EQ(row(ran.report, "add.s32")->warp, 1u);
  EXPECT_EQ(row(ran.report, "add.s32")->thread, 5u);
  EXPECT_EQ(row(ran.report, "sub.s32"), nullptr);
}

TEST(Counts, GuardedInstructionOfSeveralOperationsCountsOnce) {
  const auto ran = run_text(kernel_text(R"(
    mov.u32 r0, %tid.x;
    setp.lt.u32 p, r0, 5;
    @p setp.lt.and.u32 p|q, r0, 3, p;
    selp.b32 r1, 1, 0, p;
    selp.b32 r2, 2, 0, q;
    add.u32 r1, r1, r2;
    mad.wide.u32 d0, r0, 4, data;
    st.global.u32 [d0], r1;)"),
                            std::vector<std::uint32_t>(32), threads(32));
  EXPECT_EQ(row(ran.report, "setp.lt.and.u32")->warp, 1u);
  EXPECT_EQ(row(ran.report, "setp.lt.and.u32")->thread, 5u);
  EXPECT_EQ(ran.words[2], 1u);  // p
  EXPECT_EQ(ran.words[3], 2u);  // q
  EXPECT_EQ(ran.words[6], 0u);  // neither ran: p was false, q was never set
}

TEST(Counts, DivergedBranchesCountEachSide) {
  const auto ran = run_text(kernel_text(R"(
    mov.u32 r0, %tid.x;
    setp.lt.u32 p, r0, 8;
    @p bra LOW;
    add.s32 r1, r1, 1;
    bra.uni END;
    LOW:
    sub.s32 r1, r1, 1;
    END:
    xor.b32 r1, r1, 1;)"),
                            {0}, threads(32));
  EXPECT_EQ(row(ran.report, "add.s32")->thread, 24u);
  EXPECT_EQ(row(ran.report, "sub.s32")->thread, 8u);
  EXPECT_EQ(row(ran.report, "xor.b32")->warp, 1u) << "the sides must meet again";
  EXPECT_EQ(row(ran.report, "xor.b32")->thread, 32u);
  EXPECT_EQ(row(ran.report, "bra")->warp, 1u);
  EXPECT_EQ(row(ran.report, "bra")->thread, 8u);
}

TEST(Counts, LoopsOfDifferentLengthMeetAtTheirEnd) {
  const auto ran = run_text(kernel_text(R"(
    mov.u32 r0, %tid.x;
    LOOP:
    add.s32 r1, r1, 1;
    sub.s32 r0, r0, 1;
    setp.ge.s32 p, r0, 0;
    @p bra LOOP;
    xor.b32 r1, r1, 1;)"),
                            {0}, threads(32));
  EXPECT_EQ(row(ran.report, "add.s32")->warp, 32u);
  EXPECT_EQ(row(ran.report, "add.s32")->thread, 32u * 33 / 2);
  EXPECT_EQ(row(ran.report, "xor.b32")->warp, 1u);
}

TEST(Counts, AreOffWhenNotAskedFor) {
  MachineOptions options;
  options.observation.instructions = false;
  const auto ran = run_text(kernel_text(""), {0}, threads(32), options);
  EXPECT_TRUE(ran.report.instructions.empty());
  EXPECT_EQ(ran.report.warp_instructions, 0u);
}

TEST(Counts, DoNotDependOnHostThreads) {
  const std::string text = kernel_text(R"(
    mov.u32 r0, %ctaid.x;
    LOOP:
    sub.s32 r0, r0, 1;
    setp.ge.s32 p, r0, 0;
    @p bra LOOP;)");
  MachineOptions one, many;
  one.host_threads = 1;
  many.host_threads = 5;
  const auto a = run_text(text, {0}, threads(64, 37), one).report;
  const auto b = run_text(text, {0}, threads(64, 37), many).report;
  ASSERT_EQ(a.instructions.size(), b.instructions.size());
  EXPECT_EQ(a.lane_instructions, b.lane_instructions);
  for (std::size_t i = 0; i < a.instructions.size(); ++i) {
    EXPECT_EQ(a.instructions[i].warp, b.instructions[i].warp);
    EXPECT_EQ(a.instructions[i].ptx_line, b.instructions[i].ptx_line);
  }
}

TEST(Counts, ApproximateFormsAreNamed) {
  const auto ran =
      run_text(kernel_text("ex2.approx.f32 f0, f1;\nadd.f32 f1, f0, f0;"), {0}, threads(32));
  EXPECT_EQ(ran.report.approximate_forms, std::vector<std::string>{"ex2.approx.f32"});
}

}  // namespace
}  // namespace tessera::vgpu
