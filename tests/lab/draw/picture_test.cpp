// What a drawing of a kernel shows, against the counts by hand of the rungs' pages.
#include "lab/draw/picture.h"

#include <gtest/gtest.h>

#include <bit>
#include <regex>

namespace tessera::lab {
namespace {

KernelPicture drawn(const char* kernel) {
  const KernelChoice choice = choose_kernels(kernel).front();
  return draw(choice, with_default_ld({512, 128, 256, choice.kernel->types}), 1);
}

std::size_t wavefronts_of(const DrawnBanks& banks) { return banks.wavefronts.size(); }

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
  EXPECT_EQ(wavefronts_of(banks_of(conflicts, "tile_b", true)), 32u);
  const DrawnBanks& load = banks_of(conflicts, "tile_b", false);
  EXPECT_EQ(wavefronts_of(load), 32u);
  EXPECT_EQ(load.excess(), 31);
  for (const DrawnWavefront& one : load.wavefronts) EXPECT_EQ(one.banks, load.wavefronts[0].banks);
  EXPECT_EQ(std::popcount(load.wavefronts[0].banks), 1);
  EXPECT_EQ(wavefronts_of(banks_of(conflicts, "tile_a", false)), 1u);
  ASSERT_EQ(free.shared.size(), 4u);
  for (const DrawnBanks& banks : free.shared) EXPECT_EQ(banks.excess(), 0) << banks.name;
}

// In rung 22, loads of 8 columns, 64 bytes apart, have 4-way conflicts; in 23 only B's store does.
TEST(Picture, BanksOfDoubles) {
  const KernelPicture shared = drawn("22"), free = drawn("23");
  EXPECT_EQ(banks_of(shared, "block_b", false).bytes, 16 / 2);
  EXPECT_EQ(wavefronts_of(banks_of(shared, "block_b", false)), 8u);
  EXPECT_EQ(banks_of(shared, "block_b", false).excess(), 6);
  EXPECT_EQ(wavefronts_of(banks_of(shared, "block_a", false)), 2u);
  EXPECT_EQ(banks_of(shared, "block_a", false).excess(), 0);
  EXPECT_EQ(wavefronts_of(banks_of(free, "block_b", true)), 8u);
}

// As many rows as wavefronts are counted: a drawing does not tell another number than `explain`.
TEST(Picture, DrawsAsManyWavefrontsAsAreCounted) {
  for (const char* kernel : {"03", "07", "11", "12", "22", "23", "24"}) {
    for (const DrawnBanks& banks : drawn(kernel).shared) {
      EXPECT_EQ(wavefronts_of(banks), banks.counted) << kernel << " " << banks.name;
    }
  }
}

// A warp of rung 12 computes 32 rows by 64 columns' worth of outputs, a lane 64 of them.
TEST(Picture, OutputsOfAWarpTile) {
  const KernelPicture picture = drawn("12");
  EXPECT_EQ(picture.outputs.size(), 32u * 64);
  int of_lane = 0;
  for (const DrawnOutput& output : picture.outputs) of_lane += output.lane == 0;
  EXPECT_EQ(of_lane, 64);
}

// A warp that goes on to the tile below or beside is drawn in its first.
TEST(Picture, OutputsOfOtherTilesAreNotDrawn) {
  const KernelPicture picture = drawn("12");
  KernelPicture more = picture;
  const DrawnOutput first = picture.outputs.front();
  const std::int64_t row = first.row / picture.block.m * picture.block.m;
  const std::int64_t col = first.col / picture.block.n * picture.block.n;
  more.outputs.push_back({row + picture.block.m, col, first.lane + 1});
  more.outputs.push_back({row, col + picture.block.n, first.lane + 1});
  EXPECT_EQ(picture_svg(more), picture_svg(picture));
}

TEST(Picture, TwoColumnsAreOneDrawing) {
  const std::string one = picture_svg(drawn("03")), two = picture_svg(drawn("03"), drawn("05"));
  EXPECT_NE(one.find("32 wavefronts, 1 would do"), std::string::npos);
  EXPECT_NE(two.find("<title>From 03 shared tile to 05 conflict free</title>"), std::string::npos);
  EXPECT_EQ(picture_svg(drawn("03")), one);  // the same each time
}

TEST(Picture, EndsWithWhatItShows) {
  EXPECT_EQ(
      conclusion_of(drawn("01"), drawn("02")),
      "A load of A (the call's B) touches 1 instead of 32 sectors for 32 words; a load of B (the "
      "call's A) touches 4 instead of 1 sectors for 32 words; a store of D touches 4 instead of 32 "
      "sectors for 32 words.");
  EXPECT_EQ(
      conclusion_of(drawn("04"), drawn("05")),
      "A store to tile_b takes 1 wavefront instead of 32; a load from tile_b takes 1 wavefront "
      "instead of 32.");
  EXPECT_EQ(conclusion_of(drawn("04"), drawn("04")),
            "Both touch the same: what differs is when, or by which instructions.");
  EXPECT_EQ(
      conclusion_of(drawn("02")),
      "A lane computes 1 element; a load of A (the call's B) touches 1 sector; a load of B (the "
      "call's A) touches 4 sectors; a store of D touches 4 sectors.");
}

// A gain that is no sector: rows of 128 bytes, FMAs that a load feeds, instructions and their
// order.
TEST(Picture, EachStepHasAConclusion) {
  const auto says = [](const char* before, const char* after, const char* words) {
    const std::string conclusion = conclusion_of(drawn(before), drawn(after));
    EXPECT_NE(conclusion.find(words), std::string::npos) << conclusion;
    EXPECT_EQ(conclusion.find("what differs is when"), std::string::npos) << conclusion;
  };
  says("20", "21", "touches 2 rows of 128 bytes instead of 4");
  says("05", "06", "a load from shared memory feeds 0.8 FMAs instead of 0.5");
  says("09", "10", "main loop issues ");
  says("13", "14", "egister ports cost the main loop ");
}

// A row-major call has the kernel's names; of a column-major one each factor has both.
TEST(Picture, AColumnMajorReaderFindsItsOperands) {
  const KernelChoice choice = choose_kernels("02").front();
  Problem problem{512, 128, 256, choice.kernel->types};
  problem.order = Order::kRowMajor;
  const std::string rows = picture_svg(draw(choice, with_default_ld(problem), 1));
  const std::string columns = picture_svg(drawn("02"));
  EXPECT_EQ(rows.find("the call's"), std::string::npos);
  EXPECT_NE(rows.find("load A, 32 bits"), std::string::npos);
  EXPECT_NE(columns.find("A: the call's B. B: the call's A."), std::string::npos);
  EXPECT_NE(columns.find("load A (the call's"), std::string::npos);
}

// No text leaves its column, in a font whose letters are wide.
TEST(Picture, TextStaysInItsColumn) {
  for (const char* kernel : {"01", "08", "11", "12", "15", "22", "24", "44"}) {
    const std::string svg = picture_svg(drawn(kernel));
    const std::regex piece(
        "<g transform=\"translate\\(([0-9.]+) |</g>|"
        "<text x=\"([0-9.]+)\"[^>]*font-size=\"([0-9]+)\"[^>]*>([^<]*)<");
    std::vector<double> moved = {0};
    int texts = 0;
    for (std::sregex_iterator one(svg.begin(), svg.end(), piece), end; one != end; ++one) {
      if ((*one)[1].matched) {
        moved.push_back(moved.back() + std::stod((*one)[1]));
      } else if ((*one)[4].matched) {
        const double right = moved.back() + std::stod((*one)[2]) +
                             0.58 * std::stod((*one)[3]) * static_cast<double>((*one)[4].length());
        EXPECT_LE(right, 640) << kernel << ": " << (*one)[4];
        ++texts;
      } else {
        moved.pop_back();
      }
    }
    EXPECT_GT(texts, 15) << kernel;
    EXPECT_EQ(moved.size(), 1u);
  }
}

}  // namespace
}  // namespace tessera::lab
