// Spills count where they cost: in the innermost loops that multiply.
#include "sass/report/spills.h"

#include <gtest/gtest.h>

namespace tessera::sass {
namespace {

// A kernel with one outer loop, 0 to 99, and one inside, 10 to 19.
CubinFile with_loops(Histogram outer, Histogram inner) {
  CubinKernel kernel{.name = "entry"};
  std::vector<std::size_t> all(100);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  kernel.loops.push_back({0, 1600, std::move(outer), all});
  kernel.loops.push_back({160, 320, std::move(inner), {all.begin() + 10, all.begin() + 20}});
  return {90, 8, {kernel}};
}

TEST(Spills, OfAMainLoopAreNamed) {
  const CubinFile cubin = with_loops({{"FFMA", 8}, {"LDL.64", 3}, {"STL", 1}},
                                     {{"FFMA", 8}, {"LDL.64", 2}, {"STL", 1}});
  EXPECT_EQ(main_loop_spills(cubin),
            (std::vector<std::string>{"entry spills in its main loop: 3 loads and stores of local "
                                      "memory and 8 multiplies"}));
}

TEST(Spills, OfEachKindOfMainLoopAreFound) {
  for (const char* const name :
       {"FFMA", "DFMA", "DMMA.8x8x4", "HMMA.16816.F32", "HGMMA.64x256x16"}) {
    EXPECT_EQ(main_loop_spills(with_loops({}, {{name, 1}, {"LDL", 1}})).size(), 1u) << name;
  }
}

TEST(Spills, AroundAMainLoopAreNoMatter) {
  EXPECT_TRUE(main_loop_spills(with_loops({{"FFMA", 8}, {"LDL", 4}}, {{"FFMA", 8}})).empty());
}

TEST(Spills, OfALoopThatDoesNotMultiplyAreNoMatter) {
  EXPECT_TRUE(main_loop_spills(with_loops({}, {{"LDL", 4}, {"IADD3", 8}})).empty());
}

TEST(Spills, ThatAreKnownAreLetThroughAndNoMore) {
  const CubinFile cubin = with_loops({}, {{"FFMA", 8}, {"LDL", 2}, {"STL", 1}});
  EXPECT_TRUE(main_loop_spills(cubin, 3).empty());
  EXPECT_EQ(main_loop_spills(cubin, 2).size(), 1u);
}

// A main loop on tensor cores is a loop of its own beside another one.
TEST(Spills, AreSoughtInAllLoops) {
  CubinFile cubin = with_loops({}, {{"FFMA", 8}});
  cubin.kernels.push_back(with_loops({}, {{"HGMMA", 2}, {"STL", 1}}).kernels.front());
  EXPECT_EQ(main_loop_spills(cubin).size(), 1u);
}

}  // namespace
}  // namespace tessera::sass
