#include "sass/container/loops.h"

#include <gtest/gtest.h>

namespace tessera::sass {
namespace {

Step on() { return {}; }
Step maybe_to(std::size_t target) { return {target, true}; }
Step to(std::size_t target) { return {target, false}; }
Step stop() { return {std::nullopt, false}; }

using Members = std::vector<std::size_t>;

TEST(Loops, StraightCodeHasNone) {
  EXPECT_TRUE(find_loops({}).empty());
  const std::vector<Step> code = {on(), maybe_to(3), on(), stop(), to(4)};
  EXPECT_TRUE(find_loops(code).empty()) << "the branch to itself behind the exit is none";
}

TEST(Loops, InnerAndOuter) {
  const std::vector<Step> code = {on(), on(), on(), maybe_to(2), on(), maybe_to(1), stop()};
  const std::vector<NaturalLoop> loops = find_loops(code);
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_EQ(loops[0].members, (Members{1, 2, 3, 4, 5}));
  EXPECT_EQ(loops[1].members, (Members{2, 3}));
}

TEST(Loops, ABlockOutOfLineIsNoLoop) {
  // 1 skips to the rare block at 4, which returns to 3.
  const std::vector<Step> code = {on(), maybe_to(4), on(), stop(), on(), to(3)};
  EXPECT_TRUE(find_loops(code).empty());
}

TEST(Loops, ABlockOutOfLineBelongsToTheLoopAroundIt) {
  // The loop 1-3 sends some rounds through 5-6, behind the exit.
  const std::vector<Step> code = {on(), maybe_to(5), on(), maybe_to(1), stop(), on(), to(3)};
  const std::vector<NaturalLoop> loops = find_loops(code);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].members, (Members{1, 2, 3, 5, 6}));
}

TEST(Loops, TwoBranchesToOneHeadAreOneLoop) {
  const std::vector<Step> code = {on(), on(), maybe_to(1), on(), maybe_to(1), stop()};
  const std::vector<NaturalLoop> loops = find_loops(code);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].members, (Members{1, 2, 3, 4}));
}

TEST(Loops, LoopsOfSubroutinesAreFound) {
  const std::vector<Step> code = {on(), stop(), on(), on(), maybe_to(3), stop()};
  const std::vector<NaturalLoop> loops = find_loops(code);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].members, (Members{3, 4}));
}

TEST(Loops, AWayIntoTheMiddleMakesNoNaturalLoop) {
  // 0 may enter at 1 or at 2, so neither stands on every way to the other.
  const std::vector<Step> code = {maybe_to(2), on(), maybe_to(1), stop()};
  EXPECT_TRUE(find_loops(code).empty());
}

}  // namespace
}  // namespace tessera::sass
