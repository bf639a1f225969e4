// The counting rules on accesses made by hand, with answers known from the definitions.
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "vgpu/observe/count/bank_model.h"
#include "vgpu/observe/count/sectors.h"

namespace tessera::vgpu {
namespace {

constexpr std::uint32_t kAll = 0xffffffff;
using Addresses = std::array<std::uint64_t, 32>;
using Place = std::function<std::uint64_t(std::uint64_t lane)>;

Addresses addresses(const Place& place) {
  Addresses to;
  for (std::uint64_t l = 0; l < 32; ++l) to[l] = place(l);
  return to;
}

BankCounts banks(BankModel model, std::uint32_t bytes, const Place& place,
                 std::uint32_t mask = kAll, bool merges = true) {
  const Addresses at = addresses(place);
  return count_banks(model, {mask, bytes, at.data()}, merges);
}

void expect_plain(std::uint32_t bytes, const Place& place, std::uint64_t passes,
                  std::uint64_t wavefronts, std::uint32_t mask = kAll) {
  const BankCounts got = banks(BankModel::kPlain, bytes, place, mask);
  EXPECT_EQ(got.passes, passes);
  EXPECT_EQ(got.wavefronts, wavefronts);
  EXPECT_EQ(got.excess(), wavefronts - passes);
}

void expect_pair(std::uint32_t bytes, const Place& place, std::uint64_t passes,
                 std::uint64_t wavefronts) {
  const BankCounts got = banks(BankModel::kPair, bytes, place);
  EXPECT_EQ(got.passes, passes);
  EXPECT_EQ(got.wavefronts, wavefronts);
}

TEST(Banks, StridesOfWordsConflictByTheirPowersOfTwo) {
  expect_plain(
      4, [](auto l) { return 4 * l; }, 1, 1);
  expect_plain(
      4, [](auto l) { return 8 * l; }, 1, 2);
  expect_plain(
      4, [](auto l) { return 12 * l; }, 1, 1);
  expect_plain(
      4, [](auto l) { return 64 * l; }, 1, 16);
  expect_plain(
      4, [](auto l) { return 128 * l; }, 1, 32);
  expect_plain(
      4, [](auto l) { return 132 * l; }, 1, 1);
}

TEST(Banks, OneWordIsServedToAllLanesAtOnce) {
  expect_plain(
      4, [](auto) { return 64; }, 1, 1);
  expect_plain(
      4, [](auto l) { return 4 * (l / 8); }, 1, 1);
  expect_plain(
      4, [](auto l) { return 128 * (l / 16); }, 1, 2);
}

TEST(Banks, LanesInsideOneWordAreFree) {
  expect_plain(
      1, [](auto l) { return l; }, 1, 1);
  expect_plain(
      2, [](auto l) { return 2 * l; }, 1, 1);
  expect_plain(
      2, [](auto l) { return 128 * l; }, 1, 32);
  expect_plain(
      1, [](auto l) { return 128 * (l % 2) + l; }, 1, 2);
}

TEST(Banks, WideAccessesGoByHalvesAndQuarters) {
  expect_plain(
      8, [](auto l) { return 8 * l; }, 2, 2);
  expect_plain(
      16, [](auto l) { return 16 * l; }, 4, 4);
  expect_plain(
      8, [](auto l) { return 16 * l; }, 2, 4);
  expect_plain(
      16, [](auto l) { return 32 * l; }, 4, 8);
  expect_plain(
      16, [](auto l) { return 128 * l; }, 4, 32);
  // Lanes of different quarters never meet.
  expect_plain(
      16, [](auto l) { return 16 * (l % 8) + 128 * (l / 8); }, 4, 4);
}

TEST(Banks, PassesWithoutLanesCostNothing) {
  expect_plain(
      16, [](auto l) { return 16 * l; }, 1, 1, 0x000000ff);
  expect_plain(
      16, [](auto l) { return 16 * l; }, 2, 2, 0x01000010);
  expect_plain(
      8, [](auto l) { return 8 * l; }, 1, 1, 0x00010000);
  expect_plain(
      4, [](auto l) { return 128 * l; }, 1, 3, 0x00000111);
}

// Rung 09 reads A so: two rows of the block tile a warp.
TEST(Banks, TwoDistinctQuadsAWarpAreFourWavefrontsOrTwo) {
  const Place two = [](auto l) { return 16 * (l / 16); };
  expect_plain(16, two, 4, 4);
  expect_pair(16, two, 2, 2);
}

TEST(Banks, PairsMergeWhenNeighboursOrNextNeighboursAgree) {
  expect_pair(
      8, [](auto l) { return 8 * (l / 2); }, 1, 1);
  expect_pair(
      16, [](auto l) { return 16 * (l / 2); }, 2, 2);
  expect_pair(
      16, [](auto l) { return 16 * (l / 4 * 2 + l % 2); }, 2, 2);
  expect_pair(
      16, [](auto l) { return 16 * l; }, 4, 4);
  // Neighbours agree in one half of the warp only.
  expect_pair(
      16, [](auto l) { return l < 16 ? 16 * (l / 2) : 16 * l; }, 4, 4);
  // Narrow loads have nothing to merge.
  expect_pair(
      4, [](auto l) { return 4 * (l / 2); }, 1, 1);
  // Merged passes conflict like others.
  expect_pair(
      16, [](auto l) { return 128 * (l / 2); }, 2, 16);
}

TEST(Banks, OnlyLoadsMerge) {
  const BankCounts store = banks(
      BankModel::kPair, 16, [](auto l) { return 16 * (l / 2); }, kAll, false);
  EXPECT_EQ(store.wavefronts, 4u);
}

// The cost of an access does not depend on where its base lies: the memo builds on that.
TEST(Banks, TurnWithTheBase) {
  std::uint64_t state = 1;
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t bytes = 4u << round % 3;
    Addresses at;
    for (auto& address : at) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      address = (state >> 40) % 512 * bytes;
    }
    const BankCounts here = count_banks(BankModel::kPlain, {kAll, bytes, at.data()}, true);
    for (auto& address : at) address += 4 * (state >> 33 & 31);
    const BankCounts there = count_banks(BankModel::kPlain, {kAll, bytes, at.data()}, true);
    EXPECT_EQ(here.wavefronts, there.wavefronts);
  }
}

GlobalCounts request(std::uint32_t bytes, const Place& place, std::uint32_t mask = kAll) {
  const Addresses at = addresses(place);
  return count_request({mask, bytes, at.data()}).counts;
}

TEST(Sectors, CoalescedRequestsTakeFourEightAndSixteen) {
  EXPECT_EQ(request(4, [](auto l) { return 4096 + 4 * l; }).sectors, 4u);
  EXPECT_EQ(request(8, [](auto l) { return 4096 + 8 * l; }).sectors, 8u);
  EXPECT_EQ(request(16, [](auto l) { return 4096 + 16 * l; }).sectors, 16u);
  EXPECT_EQ(request(16, [](auto l) { return 4096 + 16 * l; }).lines, 4u);
  EXPECT_DOUBLE_EQ(request(4, [](auto l) { return 4 * l; }).efficiency(), 1);
}

TEST(Sectors, MisalignedBeginsTakeOneMore) {
  const GlobalCounts four = request(4, [](auto l) { return 4096 + 4 + 4 * l; });
  EXPECT_EQ(four.sectors, 5u);
  EXPECT_EQ(four.lines, 2u);
  EXPECT_EQ(four.partial_sectors, 2u);
  EXPECT_DOUBLE_EQ(four.efficiency(), 128.0 / 160);
  EXPECT_EQ(request(16, [](auto l) { return 4096 + 16 + 16 * l; }).sectors, 17u);
  EXPECT_EQ(request(4, [](auto l) { return 4096 + 32 + 4 * l; }).sectors, 4u);
  EXPECT_EQ(request(4, [](auto l) { return 4096 + 32 + 4 * l; }).lines, 2u);
}

TEST(Sectors, EachLaneItsOwnLine) {
  const GlobalCounts far = request(4, [](auto l) { return 2048 * l; });
  EXPECT_EQ(far.sectors, 32u);
  EXPECT_EQ(far.lines, 32u);
  EXPECT_EQ(far.tag_wavefronts, 8u);
  EXPECT_EQ(far.partial_sectors, 32u);
  EXPECT_DOUBLE_EQ(far.efficiency(), 1.0 / 8);
}

TEST(Sectors, BroadcastCountsItsBytesOnceAndAgain) {
  const GlobalCounts one = request(4, [](auto) { return 64; });
  EXPECT_EQ(one.sectors, 1u);
  EXPECT_EQ(one.requested_bytes, 128u);
  EXPECT_EQ(one.distinct_bytes, 4u);
  EXPECT_EQ(one.tag_wavefronts, 1u);
}

TEST(Sectors, InactiveLanesTouchNothing) {
  const GlobalCounts some = request(
      4, [](auto l) { return 128 * l; }, 0x80000001);
  EXPECT_EQ(some.requests, 1u);
  EXPECT_EQ(some.lanes, 2u);
  EXPECT_EQ(some.requested_bytes, 8u);
  EXPECT_EQ(some.sectors, 2u);
}

TEST(Sectors, BytesShareSectors) {
  const GlobalCounts bytes = request(1, [](auto l) { return 31 + l; });
  EXPECT_EQ(bytes.sectors, 2u);
  EXPECT_EQ(bytes.partial_sectors, 2u);
  EXPECT_EQ(bytes.distinct_bytes, 32u);
}

TEST(Sectors, RunsAreNeighbours) {
  const Addresses at = addresses([](auto l) { return 64 * (l / 16) * 8 + 4 * l; });
  const Request got = count_request({kAll, 4, at.data()});
  ASSERT_EQ(got.runs.size(), 2u);
  EXPECT_EQ(got.runs[0], (SectorRun{0, 2}));
  EXPECT_EQ(got.runs[1], (SectorRun{18, 2}));
}

TEST(Sectors, SpansOfCopies) {
  const GlobalCounts span = count_span(4096 + 16, 64).counts;
  EXPECT_EQ(span.sectors, 3u);
  EXPECT_EQ(span.partial_sectors, 2u);
  EXPECT_EQ(span.distinct_bytes, 64u);
  EXPECT_EQ(span.lines, 1u);
}

}  // namespace
}  // namespace tessera::vgpu
