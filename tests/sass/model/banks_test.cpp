// Bank models against published register maps of hand-scheduled and compiled kernels.
#include "sass/model/banks.h"

#include <gtest/gtest.h>

#include <array>

#include "sass/model/reuse.h"
#include "tests/sass/handmade.h"

namespace tessera::sass {
namespace {

using namespace handmade;

using std::array;

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

// 8x8 accumulators of a compiler's loop on Volta, and the same remapped by hand.
constexpr array kVoltaA = {12, 13, 14, 15, 8, 9, 10, 11};
constexpr array kVoltaB = {80, 81, 82, 83, 4, 5, 6, 7};
constexpr array kRemapped = {17, 16, 19, 18, 21, 20, 23, 22};

template <class AccumulatorOf>
int volta_clashes(AccumulatorOf accumulator) {
  std::vector<Operation> code;
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      const int c = accumulator(i, j);
      code.push_back(ffma(c, kVoltaA[j], kVoltaB[i], c));
    }
  }
  return bank_clashes(code, BankModel::kVolta2).clashes;
}

TEST(Banks, MapsOfVolta) {
  EXPECT_EQ(volta_clashes([](int i, int j) { return 16 + 8 * i + j; }), 32);
  EXPECT_EQ(volta_clashes([](int i, int j) { return 8 * j + kRemapped[i]; }), 0);
}

// maxas' accumulators by row, for A = R64 + row and B = R72 + column.
constexpr array<array<int, 8>, 8> kMaxas = {{{3, 2, 11, 10, 19, 18, 27, 26},
                                             {7, 6, 15, 14, 23, 22, 31, 30},
                                             {1, 0, 9, 8, 17, 16, 25, 24},
                                             {5, 4, 13, 12, 21, 20, 29, 28},
                                             {35, 34, 43, 42, 51, 50, 59, 58},
                                             {39, 38, 47, 46, 55, 54, 63, 62},
                                             {33, 32, 41, 40, 49, 48, 57, 56},
                                             {37, 36, 45, 44, 53, 52, 61, 60}}};
// The order in which it multiplies, by the accumulator's number.
constexpr array kMaxasOrder = {1,  0,  2,  3,  5,  4,  6,  7,  33, 32, 34, 35, 37, 36, 38, 39,
                               45, 44, 46, 47, 41, 40, 42, 43, 13, 12, 14, 15, 9,  8,  10, 11,
                               17, 16, 18, 19, 21, 20, 22, 23, 49, 48, 50, 51, 53, 52, 54, 55,
                               61, 60, 62, 63, 57, 56, 58, 59, 29, 28, 30, 31, 25, 24, 26, 27};

Operation maxas_ffma(int number) {
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column) {
      if (kMaxas[row][column] == number) return ffma(number, 64 + row, 72 + column, number);
    }
  }
  ADD_FAILURE() << "no accumulator " << number;
  return nop();
}

// Clashes of two operands alone: the third is left out.
int maxas_clashes_without(std::size_t operand) {
  std::vector<Operation> code;
  for (int number = 0; number < 64; ++number) {
    code.push_back(maxas_ffma(number));
    code.back().reads.erase(code.back().reads.begin() + static_cast<std::ptrdiff_t>(operand));
  }
  return bank_clashes(code, BankModel::kMaxwell4).clashes;
}

TEST(Banks, MapOfMaxas) {
  EXPECT_EQ(maxas_clashes_without(1), 0) << "C and A";
  EXPECT_EQ(maxas_clashes_without(0), 0) << "C and B";
  EXPECT_EQ(maxas_clashes_without(2), 16) << "A and B";
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

TEST(Banks, TheOrderOfMaxasHidesItsClashes) {
  std::vector<Operation> code;
  for (const int number : kMaxasOrder) code.push_back(maxas_ffma(number));
  const auto flags = profitable_reuse(code, std::vector<bool>(code.size(), true));
  const BankClashes plain = bank_clashes(code, BankModel::kMaxwell4);
  EXPECT_EQ(plain.clashes, 16);
  EXPECT_EQ(plain.hidden, 0);
  for (std::size_t i = 0; i < code.size(); ++i) code[i].control.reuse = flags[i];
  const BankClashes flagged = bank_clashes(code, BankModel::kMaxwell4);
  EXPECT_EQ(flagged.ffmas, 64);
  EXPECT_EQ(flagged.clashes, 16);
  EXPECT_EQ(flagged.hidden, 16);
}

}  // namespace
}  // namespace tessera::sass
