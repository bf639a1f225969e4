// A finding whose check is named like its severity is said once: "lockstep: Lane 0 ...".
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/beside.h"
#include "tests/support/program.h"

namespace tessera::cli {
namespace {

// Each lane reads what its neighbour stores, and the two have not met.
const char* const kPtx = R"(
.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 z)
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  .shared .align 4 .b8 tile[128];
  ld.param.u64 %rd1, [z];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, tile;
  add.u32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r1;
  xor.b32 %r5, %r2, 4;
  add.u32 %r5, %r3, %r5;
  ld.shared.u32 %r6, [%r5];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %r6;
  ret;
}
)";

TEST(Lockstep, IsSaidOnce) {
  if (!std::filesystem::exists(beside_test("tessera"))) GTEST_SKIP() << "no program here";
  const TemporaryFolder folder;
  write_text(folder / "neighbours.ptx", kPtx);
  const Ran ran = run_program(
      {"check", folder / "neighbours.ptx", "--grid", "1", "--block", "32", "--arg", "z=u32[32]"});
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_TRUE(contains(ran.out, "\nlockstep: Lane 0 of warp 0")) << ran.out;
  EXPECT_FALSE(contains(ran.out, "lockstep: lockstep")) << ran.out;
}

}  // namespace
}  // namespace tessera::cli
