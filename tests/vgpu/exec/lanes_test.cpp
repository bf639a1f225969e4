// Lanes keep to themselves: partial warps, shapes of accesses, both instruction sets, poison.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/vgpu/exec/run_ptx.h"

namespace tessera::vgpu {
namespace {

std::vector<std::uint32_t> counting(std::size_t count) {
  std::vector<std::uint32_t> words(count);
  std::iota(words.begin(), words.end(), 0u);
  return words;
}

// d[thread] = words[thread * scale + offset], for shapes that are uniform, unit and neither.
TEST(Lanes, LoadsOfEveryShape) {
  for (const std::uint32_t scale : {0u, 1u, 2u, 7u}) {
    const std::string text = kernel_text(R"(
      mov.u32 r0, %tid.x;
      mul.lo.u32 r1, r0, )" + std::to_string(scale) +
                                         R"(;
      mad.wide.u32 d0, r1, 4, data;
      ld.global.u32 r2, [d0+12];
      mad.wide.u32 d1, r0, 4, data;
      st.global.u32 [d1+4000], r2;)");
    for (const std::uint32_t block : {1u, 31u, 32u, 33u}) {
      const auto ran = run_text(text, counting(1100), threads(block));
      for (std::uint32_t i = 0; i < block; ++i) EXPECT_EQ(ran.words[1000 + i], i * scale + 3);
      EXPECT_EQ(ran.words[1000 + block], 1000 + block) << "a lane that is not there has stored";
    }
  }
}

// Each half of a warp has a shape of its own: one lane's word, neighbouring words, or neither.
TEST(Lanes, HalvesOfAWarpDiffer) {
  const std::string text = kernel_text(R"(
    mov.u32 r0, %tid.x;
    and.b32 r1, r0, 15;
    shr.u32 r2, r0, 4;
    ld.global.u32 r3, [data];
    ld.global.u32 r4, [data+4];
    setp.eq.u32 p, r2, 0;
    selp.b32 r5, r3, r4, p;
    mul.lo.u32 r1, r1, r5;
    mad.lo.u32 r1, r2, 100, r1;
    mad.wide.u32 d0, r1, 8, data;
    ld.global.v2.u32 {r6, r7}, [d0+8];
    mad.wide.u32 d1, r0, 8, data;
    st.global.v2.u32 [d1+8000], {r6, r7};
    st.global.u32 [d0+16000], r0;)");
  for (const std::uint32_t low : {0u, 1u, 3u}) {
    for (const std::uint32_t high : {0u, 1u, 3u}) {
      auto words = counting(6000);
      words[0] = low;
      words[1] = high;
      const auto ran = run_text(text, words, threads(32));
      for (std::uint32_t l = 0; l < 32; ++l) {
        const std::uint32_t step = l < 16 ? low : high;
        const std::uint32_t at = l / 16 * 100 + l % 16 * step;
        EXPECT_EQ(ran.words[2000 + 2 * l], 2 * at + 2);
        EXPECT_EQ(ran.words[2001 + 2 * l], 2 * at + 3);
        EXPECT_EQ(ran.words[4000 + 2 * at], step == 0 ? l / 16 * 16 + 15 : l);
      }
    }
  }
}

TEST(Lanes, VectorsThroughSharedMemory) {
  const auto ran = run_text(kernel_text(R"(
    mov.u32 r0, %tid.x;
    mov.u32 r1, cell;
    mad.lo.u32 r2, r0, 16, r1;
    mad.wide.u32 d0, r0, 16, data;
    ld.global.v4.u32 {r4, r5, r6, r7}, [d0];
    st.shared.v4.u32 [r2], {r7, r6, r5, r4};
    bar.sync 0;
    xor.b32 r3, r0, 5;
    mad.lo.u32 r4, r3, 16, r1;
    ld.shared.v4.u32 {r4, r5, r6, r7}, [r4];
    st.global.v4.u32 [d0], {r4, r5, r6, r7};)",
                                        "", ".shared .align 16 .b8 cell[1024];\n"),
                            counting(256), threads(64));
  for (std::uint32_t t = 0; t < 64; ++t) {
    for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(ran.words[4 * t + i], 4 * (t ^ 5) + 3 - i);
  }
}

// Values of different width live at the same time on both sides of a branch: places that were
// shared between widths would mix the lanes.
TEST(Lanes, DivergedLanesDoNotShareBytes) {
  const auto ran = run_text(kernel_text(R"(
    mov.u32 r0, %tid.x;
    and.b32 r1, r0, 1;
    setp.eq.u32 p, r1, 0;
    @p bra EVEN;
    cvt.u64.u32 d1, r0;
    mul.lo.u64 d2, d1, 0x100000001;
    shr.u64 d3, d2, 32;
    cvt.u32.u64 r5, d3;
    bra END;
    EVEN:
    add.u32 r2, r0, 1000;
    add.u32 r3, r2, 1000;
    add.u32 r5, r3, 1000;
    END:
    mad.wide.u32 d0, r0, 4, data;
    st.global.u32 [d0], r5;)"),
                            std::vector<std::uint32_t>(32), threads(32));
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.words[i], i % 2 ? i : i + 3000);
}

TEST(Lanes, BothInstructionSetsAgree) {
  const std::string text = kernel_text(R"(
    mov.u32 r0, %tid.x;
    cvt.rn.f32.u32 f0, r0;
    div.rn.f32 f1, f0, 0f40E00000;
    sqrt.rn.f32 f2, f1;
    fma.rz.f32 f3, f1, f2, f0;
    ex2.approx.f32 f4, f2;
    add.rp.f32 f5, f4, f3;
    mov.b32 r1, f5;
    setp.gt.f32 p, f5, 0f42000000;
    @p add.u32 r1, r1, r0;
    mad.wide.u32 d0, r0, 4, data;
    st.global.u32 [d0], r1;)");
  MachineOptions narrow;
  narrow.allow_avx512 = false;
  const std::vector<std::uint32_t> zeros(96);
  EXPECT_EQ(run_text(text, zeros, threads(96)).words,
            run_text(text, zeros, threads(96), narrow).words);
}

TEST(Lanes, WhatWasNeverWrittenIsTheSameInEveryRun) {
  const std::string text = kernel_text(R"(
    mov.u32 r0, %ctaid.x;
    mov.u32 r5, cell;
    ld.shared.u32 r6, [r5];
    st.shared.u32 [r5], r0;
    add.u32 r6, r6, r9;
    mad.wide.u32 d0, r0, 4, data;
    st.global.u32 [d0], r6;
    mov.u32 r9, 77;
    st.shared.u32 [r5], r9;)",
                                       "", ".shared .align 4 .b32 cell;\n");
  const auto ran = run_text(text, std::vector<std::uint32_t>(40), threads(1, 40));
  for (const std::uint32_t word : ran.words) EXPECT_EQ(word, 0xfffffffeu);
}

TEST(Lanes, BlockAndGridHaveThreeDimensions) {
  LaunchShape shape;
  shape.grid = {2, 3, 2};
  shape.block = {4, 3, 5};
  const auto ran = run_text(kernel_text(R"(
    mov.u32 r0, %ctaid.z;
    mad.lo.u32 r0, r0, 3, 0;
    mov.u32 r1, %ctaid.y;
    add.u32 r0, r0, r1;
    mad.lo.u32 r0, r0, 2, 0;
    mov.u32 r1, %ctaid.x;
    add.u32 r0, r0, r1;
    mad.lo.u32 r0, r0, 5, 0;
    mov.u32 r1, %tid.z;
    add.u32 r0, r0, r1;
    mad.lo.u32 r0, r0, 3, 0;
    mov.u32 r1, %tid.y;
    add.u32 r0, r0, r1;
    mad.lo.u32 r0, r0, 4, 0;
    mov.u32 r1, %tid.x;
    add.u32 r0, r0, r1;
    mad.wide.u32 d0, r0, 4, data;
    st.global.u32 [d0], r0;)"),
                            std::vector<std::uint32_t>(720), shape);
  EXPECT_EQ(ran.words, counting(720));
}

}  // namespace
}  // namespace tessera::vgpu
