// What a drawing of a kernel shows, against the counts by hand of the rungs' pages.
#include "lab/draw/picture.h"

#include <gtest/gtest.h>

namespace tessera::lab {
namespace {

KernelPicture drawn(const char* kernel) {
  const KernelChoice choice = choose_kernels(kernel).front();
  return draw(choice, with_default_ld({512, 128, 256, choice.kernel->types}), 1);
}

const DrawnBanks& banks_of(const KernelPicture& picture, const std::string& name, bool is_store) {
  for (const DrawnBanks& banks : picture.shared) {
    if (banks.name == name && banks.is_store == is_store) return banks;
  }
  ADD_FAILURE() << name;
  return picture.shared.front();
}

int sectors_of(const KernelPicture& picture, const std::string& name) {
  for (const DrawnRequest& request : picture.global) {
    if (request.name == name) return request.sectors();
  }
  ADD_FAILURE() << name;
  return 0;
}

TEST(Picture, SectorsOfTheNaiveKernels) {
  const KernelPicture strided = drawn("01"), coalesced = drawn("02");
  EXPECT_EQ(sectors_of(strided, "A"), 32);
  EXPECT_EQ(sectors_of(strided, "B"), 1);
  EXPECT_EQ(sectors_of(strided, "D"), 32);
  EXPECT_EQ(sectors_of(coalesced, "A"), 1);
  EXPECT_EQ(sectors_of(coalesced, "B"), 4);
  EXPECT_EQ(sectors_of(coalesced, "D"), 4);
  ASSERT_EQ(coalesced.outputs.size(), 32u);
  EXPECT_EQ(coalesced.outputs[7].row, 0);
  EXPECT_EQ(coalesced.outputs[7].col, 7);
  EXPECT_EQ(strided.outputs[7].row, 7);
}

TEST(Picture, BanksOfTheSharedTiles) {
  const KernelPicture conflicts = drawn("03"), free = drawn("05");
  EXPECT_EQ(banks_of(conflicts, "tile_b", true).wavefronts, 32);
  EXPECT_EQ(banks_of(conflicts, "tile_b", false).wavefronts, 32);
  EXPECT_EQ(banks_of(conflicts, "tile_b", false).banks.front(), 32);
  EXPECT_EQ(banks_of(conflicts, "tile_a", false).wavefronts, 1);
  ASSERT_EQ(free.shared.size(), 4u);
  for (const DrawnBanks& banks : free.shared) EXPECT_EQ(banks.wavefronts, banks.passes);
}

// Of rung 22: 8 columns 64 bytes apart meet four in a bank; of 23: the store of B alone does.
TEST(Picture, BanksOfDoubles) {
  EXPECT_EQ(banks_of(drawn("22"), "block_b", false).bytes, 16 / 2);
  EXPECT_EQ(banks_of(drawn("22"), "block_b", false).wavefronts, 8);
  EXPECT_EQ(banks_of(drawn("23"), "block_b", true).wavefronts, 8);
}

// A warp of rung 12 computes 32 rows by 64 columns' worth of outputs, a lane 64 of them.
TEST(Picture, OutputsOfAWarpTile) {
  const KernelPicture picture = drawn("12");
  EXPECT_EQ(picture.outputs.size(), 32u * 64);
  int of_lane = 0;
  for (const DrawnOutput& output : picture.outputs) of_lane += output.lane == 0;
  EXPECT_EQ(of_lane, 64);
}

TEST(Picture, TwoColumnsAreOneDrawing) {
  const std::string one = picture_svg(drawn("03")), two = picture_svg(drawn("03"), drawn("05"));
  EXPECT_NE(one.find("32 wavefronts, 1 would do"), std::string::npos);
  EXPECT_NE(two.find("<title>From 03 shared tile to 05 conflict free</title>"), std::string::npos);
  EXPECT_EQ(picture_svg(drawn("03")), one);  // the same each time
}

}  // namespace
}  // namespace tessera::lab
