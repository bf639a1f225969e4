// Divergence, barriers, deadlocks and the order of warps.
#include <gtest/gtest.h>

#include "tests/vgpu/exec/run_ptx.h"

namespace tessera::vgpu {
namespace {

constexpr std::string_view kShared = ".shared .align 4 .b32 cell[64];\n";

// Every thread stores its number; warp 0 reads what the last warp wrote.
std::string neighbour(std::string_view barrier) {
  std::string body = R"(
    mov.u32 r0, %tid.x;
    mov.u32 r2, cell;
    mad.lo.u32 r1, r0, 4, r2;
    st.shared.u32 [r1], r0;
    )";
  body += barrier;
  body += R"(
    sub.u32 r3, 63, r0;
    mad.lo.u32 r3, r3, 4, r2;
    ld.shared.u32 r4, [r3];
    mad.wide.u32 d0, r0, 4, data;
    st.global.u32 [d0], r4;)";
  return kernel_text(body, "", kShared);
}

TEST(Control, BarrierOrdersWarps) {
  const auto ran = run_text(neighbour("bar.sync 0;"), std::vector<std::uint32_t>(64), threads(64));
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(ran.words[i], 63 - i);
}

TEST(Control, MissingBarrierGivesAWrongValueEveryTime) {
  for (int run = 0; run < 3; ++run) {
    const auto ran = run_text(neighbour(""), std::vector<std::uint32_t>(64), threads(64));
    EXPECT_EQ(ran.words[0], 0xffffffffu) << "warp 1 has not run when warp 0 reads";
    EXPECT_EQ(ran.words[63], 0u);
  }
}

TEST(Control, BarrierThatOneWarpNeverReachesIsADeadlock) {
  const auto fault = fault_of(kernel_text(R"(
    mov.u32 r0, %tid.x;
    setp.ge.u32 p, r0, 32;
    @p bra END;
    bar.sync 1, 64;
    END:
    bar.sync 0;)"),
                              1, threads(64));
  EXPECT_EQ(fault.kind(), FaultKind::kDeadlock);
  EXPECT_TRUE(says(fault, "barrier 1: 32 of 64 threads")) << fault.what();
  EXPECT_TRUE(says(fault, "barrier 0: 32 of 64 threads")) << fault.what();
  EXPECT_TRUE(says(fault, "warp 1")) << fault.what();
}

TEST(Control, PartOfAWarpAtABarrierIsAFault) {
  const auto fault = fault_of(kernel_text(R"(
    mov.u32 r0, %tid.x;
    setp.ge.u32 p, r0, 16;
    @p bar.sync 0;)"),
                              1, threads(32));
  EXPECT_EQ(fault.kind(), FaultKind::kBarrier);
  EXPECT_EQ(fault.place().form, "bar.sync");
}

// HW: so does an H200; tests/vgpu/instructions/bar_after_exit.ptx runs there too.
TEST(Control, LanesThatExitAreNotWaitedFor) {
  const std::string text = kernel_text(R"(
    mov.u32 r0, %tid.x;
    setp.ge.u32 p, r0, 16;
    @p bra WAIT;
    bra END;
    WAIT:
    bar.sync 0;
    st.global.u32 [data], 7;
    END:)");
  EXPECT_EQ(run_text(text, {0}, threads(32)).words[0], 7u);
}

TEST(Control, CountsOfABarrierAreChecked) {
  EXPECT_TRUE(says(fault_of(kernel_text("bar.sync 0, 40;"), 1, threads(64)), "multiple of 32"));
  EXPECT_TRUE(says(fault_of(kernel_text("bar.sync 0, 96;"), 1, threads(64)), "the CTA has 64"));
  EXPECT_TRUE(says(fault_of(kernel_text("bar.sync 16;"), 1, threads(64)), "beyond 15"));
  const auto mixed = fault_of(kernel_text(R"(
    mov.u32 r0, %warpid;
    setp.eq.u32 p, r0, 0;
    @p bra FIRST;
    bar.sync 0, 64;
    FIRST:
    bar.sync 0, 32;
    bar.sync 0, 96;)"),
                              1, threads(96));
  EXPECT_EQ(mixed.kind(), FaultKind::kBarrier);
}

TEST(Control, LaneMayWaitForALaneOfItsOwnWarp) {
  const auto ran = run_text(kernel_text(R"(
    mov.u32 r0, %tid.x;
    mov.u32 r2, cell;
    st.shared.u32 [r2], 0;
    setp.eq.u32 p, r0, 31;
    @p bra PRODUCE;
    SPIN:
    ld.volatile.shared.u32 r3, [r2];
    setp.eq.u32 q, r3, 0;
    @q bra SPIN;
    bra END;
    PRODUCE:
    st.volatile.shared.u32 [r2], 7;
    mov.u32 r3, 9;
    END:
    mad.wide.u32 d0, r0, 4, data;
    st.global.u32 [d0], r3;)",
                                        "", kShared),
                            std::vector<std::uint32_t>(32), threads(32));
  EXPECT_EQ(ran.words[0], 7u);
  EXPECT_EQ(ran.words[31], 9u);
}

TEST(Control, WarpMayWaitForALaterWarp) {
  const auto ran = run_text(kernel_text(R"(
    mov.u32 r0, %warpid;
    mov.u32 r2, cell;
    setp.eq.u32 p, r0, 1;
    @p bra PRODUCE;
    SPIN:
    ld.volatile.shared.u32 r3, [r2];
    setp.ne.u32 q, r3, 7;
    @q bra SPIN;
    st.global.u32 [data], r3;
    bra END;
    PRODUCE:
    st.volatile.shared.u32 [r2], 7;
    END:)",
                                        "", kShared),
                            {0}, threads(64));
  EXPECT_EQ(ran.words[0], 7u);
}

TEST(Control, LanesOfACollectiveWaitForEachOther) {
  const auto ran = run_text(kernel_text(R"(
    mov.u32 r0, %tid.x;
    setp.lt.u32 p, r0, 16;
    @p bra LOW;
    add.u32 r1, r0, 100;
    bra MEET;
    LOW:
    add.u32 r1, r0, 200;
    MEET:
    shfl.sync.idx.b32 r2, r1, 31, 31, -1;
    mad.wide.u32 d0, r0, 4, data;
    st.global.u32 [d0], r2;)"),
                            std::vector<std::uint32_t>(32), threads(32));
  EXPECT_EQ(ran.words[0], 131u);
  EXPECT_EQ(ran.words[31], 131u);
}

TEST(Control, CollectiveThatLanesNeverReachIsADeadlock) {
  const auto fault = fault_of(kernel_text(R"(
    mov.u32 r0, %tid.x;
    setp.lt.u32 p, r0, 16;
    @p bra LOW;
    bar.warp.sync 0xffffffff;
    LOW:
    vote.sync.any.pred q, p, 0xffffffff;
    bar.warp.sync 0xffffffff;)"),
                              1, threads(32));
  EXPECT_EQ(fault.kind(), FaultKind::kDeadlock);
}

TEST(Control, DeepRecursionKeepsEachFrame) {
  const std::string function = R"(
.func (.param .b32 sum) total(.param .b32 n)
{
  .reg .pred p;
  .reg .b32 a, b, c;
  .local .align 4 .b32 mine[4];
  ld.param.u32 a, [n];
  st.local.u32 [mine+8], a;
  mov.u32 c, 0;
  setp.eq.u32 p, a, 0;
  @p bra END;
  sub.u32 b, a, 1;
  { .param .b32 given; .param .b32 back;
    st.param.b32 [given], b;
    call.uni (back), total, (given);
    ld.param.b32 c, [back]; }
  ld.local.u32 a, [mine+8];
  add.u32 c, c, a;
  END:
  st.param.b32 [sum], c;
  ret;
}
)";
  const auto ran = run_text(kernel_text(R"(
    mov.u32 r0, %tid.x;
    { .param .b32 given; .param .b32 back;
      st.param.b32 [given], r0;
      call.uni (back), total, (given);
      ld.param.b32 r1, [back]; }
    mad.wide.u32 d0, r0, 4, data;
    st.global.u32 [d0], r1;)",
                                        function),
                            std::vector<std::uint32_t>(64), threads(64));
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(ran.words[i], i * (i + 1) / 2);
}

}  // namespace
}  // namespace tessera::vgpu
