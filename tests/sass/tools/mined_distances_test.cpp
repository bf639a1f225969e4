// Distances that are learned from kernels, and how they go together with those that are known.
#include "tools/calibrate/mined_distances.h"

#include <gtest/gtest.h>

#include <vector>

#include "sass/model/hazards.h"
#include "sass/rewrite/encode.h"

namespace tessera::sass {
namespace {

using enum DependenceKind;
constexpr auto kGeneral = RegisterFile::kGeneral;
using Class = LatencyClass;

constexpr Instruction kExit = {0x000000000000794d, 0x000fea0003800000};

Program program_of_code(std::vector<Instruction> code) {
  CubinKernel kernel;
  kernel.name = "mined";
  kernel.code = std::move(code);
  kernel.code.push_back(kExit);
  return program_of(kernel, 80);
}

// A sum of FP32 numbers that an integer instruction reads `cycles` later.
Program sum_then_integer(int cycles) {
  return program_of_code({with_control(fadd(4, 5, 6), {.stall = cycles}),
                          with_control(iadd3(7, 4, 4, 4), {.stall = 9})});
}

int of(const std::vector<LatencyRow>& rows, Class second, DependenceKind kind = kReadAfterWrite) {
  for (const LatencyRow& row : rows) {
    if (row.kind == kind && row.file == kGeneral && row.first == Class::kFma &&
        row.second == second) {
      return row.cycles;
    }
  }
  return 0;
}

TEST(Distances, TheShorterOfTwoTablesCounts) {
  const LatencyRow one[] = {{kReadAfterWrite, kGeneral, Class::kFma, Class::kAlu, 5},
                            {kReadAfterWrite, kGeneral, Class::kFma, Class::kUnit, 4},
                            {kReadAfterWrite, kGeneral, Class::kFma, Class::kAny, 9}};
  const LatencyRow other[] = {{kReadAfterWrite, kGeneral, Class::kFma, Class::kAlu, 4},
                              {kReadAfterWrite, kGeneral, Class::kFma, Class::kUnit, 6},
                              {kReadAfterWrite, kGeneral, Class::kFma, Class::kMemory, 6}};
  const StallRow stalls[] = {{"EXIT", 5}, {"RET", 5}}, shorter[] = {{"RET", 4}, {"BRA", 3}};
  const Distances distances({80, "", one, stalls}, {80, "", other, shorter});
  const auto least = [&](Class second) {
    return distances.least(kReadAfterWrite, kGeneral, Class::kFma, second);
  };
  EXPECT_EQ(least(Class::kAlu), 4);
  EXPECT_EQ(least(Class::kUnit), 4);
  EXPECT_EQ(least(Class::kMemory), 6);
  EXPECT_EQ(least(Class::kDouble), 9);
  ASSERT_EQ(distances.stalls().size(), 3u);
  EXPECT_EQ(distances.stalls()[0].stall, 5);
  EXPECT_EQ(distances.stalls()[1].stall, 4);
}

// A write waits for another no longer than a read would.
TEST(Distances, OfTwoWritesAreBoundedByThoseOfReads) {
  const LatencyRow rows[] = {{kReadAfterWrite, kGeneral, Class::kFma, Class::kAny, 9}};
  const Distances distances({80, "", rows, {}});
  EXPECT_EQ(distances.least(kWriteAfterWrite, kGeneral, Class::kFma, Class::kAlu), 9);
  EXPECT_EQ(distances.least(kWriteAfterWrite, kGeneral, Class::kAlu, Class::kAlu), kLongestLatency);
}

TEST(MinedDistances, OnlyShorterOnesAreListedBesideATable) {
  const LatencyRow known[] = {{kReadAfterWrite, kGeneral, Class::kFma, Class::kAlu, 7},
                              {kReadAfterWrite, kGeneral, Class::kFma, Class::kAny, 12}};
  MinedDistances longer, shorter;
  longer.add(sum_then_integer(8));
  EXPECT_EQ(of(longer.rows_beside({80, "", known, {}}), Class::kAlu), 0);
  shorter.add(sum_then_integer(6));
  EXPECT_EQ(of(shorter.rows_beside({80, "", known, {}}), Class::kAlu), 6);
  EXPECT_EQ(of(shorter.rows_beside({80, "", {}, {}}), Class::kAlu), 6);
  longer.add(shorter);
  EXPECT_EQ(of(longer.rows_beside({80, "", known, {}}), Class::kAlu), 6);
}

// To learn from a kernel is to find no hazard in it, and still to find one in a shorter distance.
TEST(MinedDistances, AKernelThatWasLearnedFromIsClean) {
  const Program kernel = sum_then_integer(3), edited = sum_then_integer(2);
  const LatencyTable& own = latencies_of(80);
  EXPECT_FALSE(find_hazards(kernel).empty());
  MinedDistances mined;
  mined.add(kernel);
  const std::vector<LatencyRow> rows = mined.rows_beside(own);
  const Distances distances(own, {80, "", rows, {}});
  EXPECT_TRUE(find_hazards(kernel, distances).empty());
  EXPECT_FALSE(find_hazards(edited, distances).empty());
}

TEST(MinedDistances, StallsOfATableAreShortenedAndNoneAdded) {
  const StallRow known[] = {{"EXIT", 7}, {"RET", 2}};
  MinedDistances mined;
  mined.add(sum_then_integer(8));
  const std::vector<StallRow> beside = mined.stalls_beside({80, "", {}, known});
  ASSERT_EQ(beside.size(), 1u);
  EXPECT_EQ(beside[0].name, "EXIT");
  EXPECT_EQ(beside[0].stall, 5);
}

}  // namespace
}  // namespace tessera::sass
