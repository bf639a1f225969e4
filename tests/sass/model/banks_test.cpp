// Bank models: which sources clash, and what the reuse cache hides. Published register maps are in
// tests/sass/report/published_maps_test.cpp.
#include "sass/model/banks.h"

#include <gtest/gtest.h>

#include "tests/sass/handmade.h"

namespace tessera::sass {
namespace {

using namespace handmade;

TEST(Banks, BanksOfRegisters) {
  EXPECT_EQ(bank_of(7, BankModel::kKepler4), 3);
  EXPECT_EQ(bank_of(2, BankModel::kKepler4), 0);
  EXPECT_EQ(bank_of(12, BankModel::kKepler4), 2);
  EXPECT_EQ(bank_of(7, BankModel::kMaxwell4), 3);
  EXPECT_EQ(bank_of(12, BankModel::kMaxwell4), 0);
  EXPECT_EQ(bank_of(7, BankModel::kVolta2), 1);
}

TEST(Banks, WhatClashes) {
  const auto clashes = [](Operation operation, BankModel model) {
    return bank_clashes(std::vector<Operation>{operation}, model).clashes;
  };
  EXPECT_EQ(clashes(ffma(0, 1, 3, 5), BankModel::kVolta2), 1);
  EXPECT_EQ(clashes(ffma(0, 1, 3, 4), BankModel::kVolta2), 0);
  EXPECT_EQ(clashes(ffma(0, 1, 3, 3), BankModel::kVolta2), 0) << "one register, read once";
  EXPECT_EQ(clashes(ffma(0, 1, 5, 2), BankModel::kMaxwell4), 1);
  EXPECT_EQ(clashes(ffma(0, 1, 5, 2), BankModel::kKepler4), 0);
  EXPECT_EQ(clashes(ffma(0, 0, 2, 5), BankModel::kKepler4), 1);
}

TEST(Banks, ClashesNameTheirRegisters) {
  const std::vector<Operation> code = {ffma(0, 2, 4, 6), ffma(1, 2, 4, 7), ffma(0, 2, 2, 7),
                                       ffma(0, 3, 5, 2)};
  const std::vector<Clash> volta = clashes_of(code, BankModel::kVolta2);
  ASSERT_EQ(volta.size(), 1u);
  EXPECT_EQ(volta[0].registers, (std::vector{2, 4, 6}));
  const std::vector<Clash> crowded = clashes_of(code, BankModel::kCrowded2);
  ASSERT_EQ(crowded.size(), 3u);
  EXPECT_EQ(crowded[1].at, 1u);
  EXPECT_EQ(crowded[1].registers, (std::vector{2, 4}));
  EXPECT_EQ(crowded[2].at, 3u);
  EXPECT_EQ(crowded[2].registers, (std::vector{3, 5}));
  // Kept in its slot, R2 is not read again.
  const std::vector<Operation> kept = {ffma(1, 2, 5, 7, 1), ffma(1, 2, 4, 7)};
  const std::vector<Clash> hidden = clashes_of(kept, BankModel::kCrowded2);
  ASSERT_EQ(hidden.size(), 2u);
  EXPECT_FALSE(hidden[0].is_hidden);
  EXPECT_TRUE(hidden[1].is_hidden);
}

TEST(Banks, TheRuleIsThatOfTheCard) {
  for (const int sm : {70, 75, 80}) EXPECT_EQ(rule_of(sm), BankModel::kVolta2) << sm;
  for (const int sm : {86, 89, 90}) EXPECT_EQ(rule_of(sm), BankModel::kCrowded2) << sm;
}

// An iteration starts with what the one before has left in the reuse cache.
TEST(Banks, ALoopKeepsItsRegistersRoundItsEnd) {
  const std::vector<Operation> body = {ffma(1, 2, 4, 7), ffma(1, 2, 5, 7, 1)};
  const BankClashes straight = bank_clashes(body, BankModel::kCrowded2);
  EXPECT_EQ(straight.clashes - straight.hidden, 2);
  const BankClashes loop = bank_clashes_of_loop(body, BankModel::kCrowded2);
  EXPECT_EQ(loop.clashes, 2);
  EXPECT_EQ(loop.hidden, 1) << "R2 of the first";
}

// Memory instructions read through other ports, and leave what is kept.
TEST(Banks, ALoadBetweenLeavesWhatIsKept) {
  const std::vector<Operation> code = {ffma(1, 2, 5, 7, 1), load(20, 1, 30), ffma(3, 2, 4, 7)};
  EXPECT_EQ(bank_clashes(code, BankModel::kCrowded2).hidden, 1);
}

}  // namespace
}  // namespace tessera::sass
