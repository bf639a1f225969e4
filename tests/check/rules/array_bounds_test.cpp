// Indices that leave one array and land in the next one, in shared memory and in arrays of a
// thread.
#include <gtest/gtest.h>

#include "tests/check/call.h"
#include "vgpu/observe/check/array_bounds.h"

namespace tessera::checking {
namespace {

using CheckArrayBounds = Check;

TEST_F(CheckArrayBounds, OfSharedArrays) {
  const Words call =
      launch("rules/beside.cu", "shared_arrays", "1", "32", {"out=f32[32]", "in=f32[32]:uniform"});
  expect_says(call, 0, {"clean: no finding\n"});
  expect_says(joined(call, {"-D", "OVER=4"}), 1,
              {"error: array-overrun: ", "(line 14) reads byte 12",
               " of shared array first, which "
               "has 128 bytes: it lands in what lies beside it",
               "do:    check the index at line 14 against the extent of the array"});
}

TEST_F(CheckArrayBounds, OfArraysOfAThread) {
  const Words call = launch("rules/beside.cu", "own_arrays", "1", "1",
                            {"out=f32[32]:uniform", "places=i32[8]:iota"});
  expect_says(call, 0, {"clean: no finding\n"});
  expect_says(joined(call, {"-D", "OVER=6"}), 1,
              {"error: array-overrun: ",
               "(line 28) reads byte 64 of an array of its thread, which "
               "has 64 bytes"});
}

TEST_F(CheckArrayBounds, OfConstantIndicesThatTheCompilerDrops) {
  const auto call = [](const std::string& kernel, const Words& more) {
    return joined(
        launch("rules/constant_index.cu", kernel, "1", "1", {"out=f32[1]", "in=f32[4]:ones"}),
        more);
  };
  for (int runs = 0; runs < 2; ++runs) {  // the second finds it compiled
    const Ran one = check(call("one", {}));
    expect_parts(one.err, {"note: subscript out of range: ",
                           "constant_index.cu(10); the compiler "
                           "drops what comes of it, --nvcc-arg -G keeps it\n"});
    expect_parts(one.out, {"but never written: 1 of 1 elements of array out\n"});
  }
  expect_says(call("unrolled", {}), 0,
              {"note: array out: NaN in 1 of 1 elements", "--nvcc-arg -G keeps the index\n"});
  for (const char* kernel : {"one", "unrolled"}) {
    const Ran right = check(call(kernel, {"-D", "LAST=3"}));
    EXPECT_EQ(right.code, 0) << right.out;
    expect_parts(right.out + right.err, {"clean: no finding\n"}, {"subscript", "-G keeps"});
    EXPECT_EQ(check(call(kernel, {"-D", "LAST=4", "--nvcc-arg", "-G"})).code, 1) << kernel;
  }
}

TEST(ArrayName, IsTheLastPartOfAMangledOne) {
  EXPECT_EQ(vgpu::check::array_name("_ZZ9transposePfPKfiE4tile"), "tile");
  EXPECT_EQ(vgpu::check::array_name("_ZZN2ns1kIfEEvPT_E5a_4_b"), "a_4_b");
  EXPECT_EQ(vgpu::check::array_name("tile"), "tile");
  EXPECT_EQ(vgpu::check::array_name("tile2"), "tile2");
}

}  // namespace
}  // namespace tessera::checking
