// wgmma is a rendezvous of its warpgroup on silicon: code that relies on it is told so, held to PTX
// it is wrong, and what warps read by ordinary loads is no part of it.
#include <gtest/gtest.h>

#include "tests/check/call.h"

namespace tessera::checking {
namespace {

class CheckCollective : public Check {
 protected:
  static Ran run(const std::string& kernel, const Words& more = {}) {
    const Words words = {kFolder + "collective.ptx",
                         "--kernel",
                         kernel,
                         "--grid",
                         "1",
                         "--block",
                         "160",
                         "--seeds",
                         "4",
                         "--arg",
                         "out=f32[128]",
                         "--arg",
                         "tiles=bf16[9,1152]:integers",
                         "--arg",
                         "count=i32:9"};
    return check(joined(words, more));
  }
};

TEST_F(CheckCollective, OneThreadMayGiveBackWhatWgmmaFetched) {
  const Ran ran = run("ring<false, false>");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  expect_parts(ran.out, {"note: collective-wgmma: ", "which PTX does not promise", "--strict-ptx",
                         "clean: no finding", "10 runs"});
  EXPECT_FALSE(contains(ran.out, "depends on the order")) << ran.out;
}

TEST_F(CheckCollective, HeldToPtxItIsARace) {
  const Ran ran = run("ring<false, false>", {"--strict-ptx"});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_FALSE(contains(ran.out, "collective-wgmma")) << ran.out;
}

TEST_F(CheckCollective, ArrivalsOfAllAreCleanEitherWay) {
  for (const Words& more : {Words{}, Words{"--strict-ptx"}}) {
    const Ran ran = run("ring<false, true>", more);
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    EXPECT_FALSE(contains(ran.out, "collective-wgmma")) << ran.out;
  }
}

TEST_F(CheckCollective, OrdinaryReadsOfTheOtherWarpsAreNotCovered) {
  const Ran ran = run("ring<true, false>");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "error: race: ")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "collective.cu:78: ")) << ran.out;
}

}  // namespace
}  // namespace tessera::checking
