// Tensor maps in structs, behind pointers and in constant memory, with sizes, strides, steps and
// offsets of their own.
#include <gtest/gtest.h>

#include <cmath>

#include "check/arrays.h"
#include "tests/check/call.h"

namespace tessera::checking {
namespace {

// A box of 4 x 2 floats from row 1 on, of arrays that count up.
class CheckMaps : public Check {
 protected:
  static Words call(const std::string& kernel, const Words& more) {
    const Words words = launch("maps.ptx", kernel, "1", "32", {"out=f32[8]"});
    return joined(joined(words, {"--array", "a=f32[6,8]:iota"}), more);
  }
  static std::vector<double> by_pointer(const std::string& map) {
    return result(call("by_pointer", {"--arg", "map=pointer(" + map + ")", "--arg", "n=i32:8"}));
  }
  // Two rows of four that begin at these elements.
  static std::vector<double> rows(double first, double second) {
    std::vector<double> values;
    for (const double row : {first, second}) {
      for (int i = 0; i < 4; ++i) values.push_back(row + i);
    }
    return values;
  }
};

TEST_F(CheckMaps, InAStructBehindAPointerAndInConstantMemory) {
  const Words tile = {"--arg", "tile=struct(i32:2, i32:4, tensormap(a, 4x2), f32:2)"};
  std::vector<double> twice = rows(8, 16);
  for (double& value : twice) value *= 2;
  EXPECT_EQ(result(call("by_struct", tile)), twice);
  EXPECT_EQ(by_pointer("tensormap(a, 4x2)"), rows(8, 16));
  const Words set = {"--arg", "n=i32:8", "--set",
                     "constant_maps=struct(tensormap(a, 4x2), tensormap(a, 4x2, offset=64))"};
  EXPECT_EQ(result(call("by_constant", set)), rows(24, 32));
}

// CUtensorMap of CUDA 13 is aligned to 128 bytes, and the struct around it tells.
TEST_F(CheckMaps, OfCuda13AreAlignedTo128Bytes) {
  const std::string tile = "struct(i32:2, i32:4, tensormap(a, 4x2), f32:1)";
  EXPECT_EQ(result(call("by_struct_of_13", {"--arg", "tile=" + tile})), rows(8, 16));
  EXPECT_EQ(result(call("by_constant_of_13", {"--set", "constant_tile=" + tile})), rows(8, 16));
  for (const char* part : {"struct(i32:2, i32:4)", "struct(i32:2, i32:4, tensormap(a, 4x2))"}) {
    expect_refused(call("by_constant_of_13", {"--set", std::string("constant_tile=") + part}),
                   {"but the variable has 384"});
  }
}

TEST_F(CheckMaps, ArraysOfPointersToThem) {
  const TemporaryFolder folder;
  Words words = {kFolder + "maps.ptx",
                 "--kernel",
                 "by_pointers",
                 "--grid",
                 "2",
                 "--block",
                 "32",
                 "--array",
                 "a=f32[6,8]:iota",
                 "--arg",
                 "out=f32[16]",
                 "--arg",
                 "maps=pointers(pointer(tensormap(a, 4x2)), pointer(tensormap(a, 4x2, offset=64)))",
                 "--arg",
                 "n=i32:8"};
  std::vector<double> both = rows(8, 16);
  for (const double value : rows(24, 32)) both.push_back(value);
  EXPECT_EQ(result(words), both);
  words[12] = "maps=pointers(a, tensormap(a, 4x2))";
  expect_refused(words, {"pointers(...) lists names of arrays", "pointer(VALUE)"});
  words[12] = "maps=pointers(pointer(tensormap(b, 4x2)))";
  expect_refused(words, {"names the array 'b', but the arrays are: out, maps, a"});
}

TEST_F(CheckMaps, SizesStridesStepsAndOffsetsOfTheirOwn) {
  EXPECT_EQ(by_pointer("tensormap(a, box=4x2, size=4x3, stride=64, offset=32)"), rows(24, 40));
  EXPECT_EQ(by_pointer("tensormap(a, 4x4, none, step=1x2)"), rows(8, 24));
  const std::vector<double> outside = by_pointer("tensormap(a, 4x2, size=8x2, fill=nan)");
  EXPECT_EQ(outside.at(3), 11);
  for (int i = 4; i < 8; ++i) EXPECT_TRUE(std::isnan(outside[static_cast<std::size_t>(i)])) << i;
  EXPECT_EQ(by_pointer("tensormap(a, 4x2, size=8x2)").at(4), 0);
}

TEST_F(CheckMaps, StructsNestAndArePadded) {
  const std::string inner = "struct(i32:2, i32:4)";
  for (const std::string& head : Words{inner + ", pad(56)", "i32:2, struct(i32:4), bytes:0000"}) {
    const std::string tile = "tile=struct(" + head + ", tensormap(a, 4x2), f32:1)";
    EXPECT_EQ(result(call("by_struct", {"--arg", tile})), rows(8, 16)) << head;
  }
}

// The advice is about maps and boxes, not about an index.
TEST_F(CheckMaps, WhatGoesWrongWithThem) {
  const auto found = [](const Words& words, const Words& parts) {
    const Ran ran = check(words);
    EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
    expect_parts(ran.out, parts);
    EXPECT_FALSE(contains(ran.out, "Check the bound")) << ran.out;
  };
  const std::string map = "map=tensormap(a, 4x2)";
  found(call("by_copy", {"--arg", map, "--arg", "n=i32:8"}),
        {"the tensor map lies in local memory", "Make the parameter const __grid_constant__"});
  found(call("by_pointer", {"--arg", "map=a", "--arg", "n=i32:8"}),
        {"there is no tensor map at this address", "Give the address of a tensor map"});
  const auto stored = [&](const std::string& x) {
    return Words{kFolder + "maps.ptx",
                 "--kernel",
                 "stored",
                 "--grid",
                 "1",
                 "--block",
                 "32",
                 "--array",
                 "a=f32[6,8]:iota",
                 "--arg",
                 map,
                 "--arg",
                 "x=i32:" + x};
  };
  EXPECT_EQ(check(stored("4")).code, 0) << check(stored("4")).out;
  found(stored("-4"), {"starts at element -4 of the innermost", "Begin the store at element 0"});
  found(stored("1"), {"byte 4: the bytes must be a multiple of 16", "Let the box start at such"});
}

TEST_F(CheckMaps, WhatDoesNotFitIsRefused) {
  const auto refused = [](const std::string& map, const Words& parts) {
    expect_refused(call("by_pointer", {"--arg", "map=pointer(" + map + ")", "--arg", "n=i32:8"}),
                   parts);
  };
  refused("tensormap(a, 4x2, colour=red)", {"a tensor map has no 'colour=red'", "box=", "fill="});
  refused("tensormap(a)", {"a tensor map is tensormap(ARRAY, BOX, SWIZZLE)"});
  refused("tensormap(a, 4x2x1)", {"the box has 3 extents and array a has 2"});
  refused("tensormap(a, 4x2, size=8)", {"the box has 2 extents and the tensor has 1"});
  refused("tensormap(a, 4x2, stride=32x32)", {"2 dimensions have 1 strides"});
  refused("tensormap(a, 4x2, step=1)", {"there are 1 steps, but 2 dimensions"});
  refused("tensormap(b, 4x2)", {"names the array 'b', but the arrays are: out, a"});
  expect_refused(call("by_struct", {"--arg", "tile=struct(i32:2, i32:4, tensormap(a, 4x2))"}),
                 {"a struct of 192 bytes, but the kernel takes 256"});
  expect_refused(call("by_struct", {"--arg", "tile=struct(f32[4], i32:4)"}),
                 {"an array in a struct is named, and made with --array"});
}

}  // namespace
}  // namespace tessera::checking
