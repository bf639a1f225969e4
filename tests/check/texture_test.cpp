// Texture objects: the kernels assert what they read.
#include "tests/check/call.h"

namespace tessera::checking {
namespace {

class Textures : public Check {
 protected:
  static Ran run(const std::string& kernel, const std::string& block, const std::string& array,
                 const std::string& texture, const Words& more = {}) {
    return check(joined({kFolder + "textures.ptx", "--kernel", kernel, "--grid", "1", "--block",
                         block, "--array", "a=" + array, "--arg", "t=" + texture},
                        more));
  }
  static void expect_clean(const Ran& ran) { EXPECT_EQ(ran.code, 0) << ran.out << ran.err; }
  static void expect_found(const Ran& ran, const std::string& text) {
    EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
    EXPECT_TRUE(contains(ran.out, text)) << "lacks '" << text << "': " << ran.out;
  }
};

TEST_F(Textures, LinearMemoryByIndex) {
  expect_clean(run("fetched", "40", "f32[40]:iota", "texture(a)", {"--arg", "n=i32:40"}));
  expect_clean(run("integers", "40", "i32[40]:iota", "texture(a)"));
  expect_clean(run("four_channels", "16", "f32[16,4]:iota", "texture(a, channels=4)"));
}
TEST_F(Textures, PointsOfOneDimension) {
  expect_clean(run("points", "40", "f32[40]:iota", "texture(a)", {"--arg", "n=i32:40"}));
  // Coordinates in texels are clamped, whatever else is asked for.
  expect_clean(run("points", "40", "f32[40]:iota", "texture(a, wrap)", {"--arg", "n=i32:40"}));
  expect_clean(run("points", "40", "f16[40]:iota", "texture(a)", {"--arg", "n=i32:40"}));
}
TEST_F(Textures, LinearFilterOfOneDimension) {
  expect_clean(run("between", "40", "f32[40]:iota", "texture(a, linear)", {"--arg", "n=i32:40"}));
}
TEST_F(Textures, TwoAndThreeDimensions) {
  expect_clean(run("plane", "12,8", "f32[8,12]:iota", "texture(a)", {"--arg", "w=i32:12"}));
  expect_clean(
      run("plane_between", "12,8", "f32[8,12]:iota", "texture(a, linear)", {"--arg", "w=i32:12"}));
  expect_clean(run("volume", "4,4,4", "f32[4,4,4]:iota", "texture(a)", {"--arg", "n=i32:4"}));
}
TEST_F(Textures, ALevelOfATextureWithoutMipLevels) {
  expect_clean(run("levels", "12,8", "f32[8,12]:iota", "texture(a)", {"--arg", "w=i32:12"}));
}
TEST_F(Textures, WhatLiesOutside) {
  const Words eight = {"--arg", "n=i32:8", "--arg"};
  expect_clean(run("around", "8", "f32[8]:iota", "texture(a, wrap, normalized)",
                   joined(eight, {"mirrored=u8:0"})));
  expect_clean(run("around", "8", "f32[8]:iota", "texture(a, mirror, normalized)",
                   joined(eight, {"mirrored=u8:1"})));
  expect_clean(
      run("border", "1", "f32[8]:ones", "texture(a, border)", joined(eight, {"half=f32:1"})));
  expect_clean(run("border", "1", "f32[8]:ones", "texture(a, border, linear)",
                   joined(eight, {"half=f32:0.5"})));
}
TEST_F(Textures, SmallIntegersAndFractions) {
  expect_clean(run("bytes", "32", "u8[2,32]:iota", "texture(a)", {"--arg", "out=u8[32]"}));
  expect_clean(run("fractions", "200", "u8[200]:iota", "texture(a, fraction)"));
  expect_clean(run("signed_fractions", "4", "i8[4]:constant=-128", "texture(a, fraction)"));
}
// An assertion that cannot fail would prove nothing.
TEST_F(Textures, TheKernelsNoticeOtherTexels) {
  for (const char* kernel : {"fetched", "points"}) {
    expect_found(run(kernel, "40", "f32[40]:ones", "texture(a)", {"--arg", "n=i32:40"}), "assert");
  }
  expect_found(run("between", "40", "f32[40]:iota", "texture(a)", {"--arg", "n=i32:40"}), "assert");
  expect_found(run("around", "8", "f32[8]:iota", "texture(a, wrap)",
                   {"--arg", "n=i32:8", "--arg", "mirrored=u8:0"}),
               "assert");
}
TEST_F(Textures, ReadsAreSeenByTheChecks) {
  expect_found(
      run("written", "64", "f32[64]:ones", "texture(a)", {"--arg", "p=a", "--arg", "out=f32[32]"}),
      "error: race: ");
  expect_found(run("integers", "40", "i32[40]", "texture(a)"), "uninitialised-global-read");
}
TEST_F(Textures, WhatCannotBeReadIsSaid) {
  expect_found(run("integers", "8", "f32[8]:ones", "texture(a)"),
               "a texture of floats is read as integers");
  expect_found(run("points", "8", "f32[8,8]:ones", "texture(a)", {"--arg", "n=i32:8"}),
               "1 coordinates for a texture of 2 dimensions");
  expect_found(run("integers", "8", "i32[8]:iota", "u64:0"),
               "there is no texture object at this handle");
  const std::string file = kFolder + "textures.ptx";
  const Words call = {file, "--kernel", "integers", "--grid", "1", "--block", "8", "--array"};
  expect_refused(joined(call, {"a=i32[8]", "--arg", "t=texture(a, linear)"}),
                 {"only floats are filtered"});
  expect_refused(joined(call, {"a=f64[8]", "--arg", "t=texture(a)"}), {"i8 u8 i16 u16 i32 u32"});
  expect_refused(joined(call, {"a=i32[8,3]", "--arg", "t=texture(a, channels=4)"}),
                 {"the last extent of array a must be the 4 channels"});
  expect_refused(joined(call, {"a=i32[8]", "--arg", "t=texture(a, cubic)"}),
                 {"a texture is texture(ARRAY), with any of: linear, "});
  expect_refused(joined(call, {"a=i32[8]", "--arg", "t=texture(b)"}), {"the arrays are: a"});
}

}  // namespace
}  // namespace tessera::checking
