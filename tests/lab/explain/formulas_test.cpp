#include "lab/explain/formulas.h"

#include <gtest/gtest.h>

namespace tessera::lab {
namespace {

Problem problem(std::int64_t m, std::int64_t n, std::int64_t k) {
  return with_default_ld({.m = m, .n = n, .k = k});
}

KernelRow row(BlockTile block, OutputTile thread) {
  KernelRow row;
  row.block = block;
  row.thread = thread;
  return row;
}

TEST(Formulas, NaiveReadsTwoWordsAProduct) {
  const WordFormulas words = word_formulas(problem(64, 32, 16), row({32, 32, 32}, {1, 1}), false);
  EXPECT_EQ(words.naive, 2.0 * 64 * 32 * 16);
  EXPECT_EQ(words.flop, words.naive);
  EXPECT_EQ(words.output, 64.0 * 32);
  EXPECT_EQ(intensity(words.flop, words.naive, ElementType::kF32), 0.25);
  EXPECT_EQ(intensity(words.flop, words.naive, ElementType::kF64), 0.125);
}

// b/4 FLOP a byte: 4 at 16, 32 at 128. A text that prints 64 for a 16-cube is wrong.
TEST(Formulas, ASquareBlockReadsABOverFour) {
  for (const int b : {16, 32, 64, 128}) {
    const WordFormulas words = word_formulas(problem(512, 512, 256), row({b, b, 8}, {1, 1}), false);
    EXPECT_EQ(words.blocked, 512.0 * 512 * 256 * 2 / b);
    EXPECT_EQ(intensity(words.flop, words.blocked, ElementType::kF32), b / 4.0);
  }
}

TEST(Formulas, EachOperandOnceIsTheLowerBound) {
  const WordFormulas words = word_formulas(problem(96, 40, 24), row({32, 8, 8}, {1, 1}), false);
  EXPECT_EQ(words.once, 24.0 * (96 + 40));
  EXPECT_EQ(intensity(words.flop, words.once, ElementType::kF32),
            96.0 * 40 / (2 * (96 + 40)));  // MN / (2(M + N))
}

TEST(Formulas, AThreadTileDividesSharedReads) {
  const WordFormulas words = word_formulas(problem(128, 128, 8), row({128, 128, 8}, {8, 4}), false);
  EXPECT_EQ(words.shared, 128.0 * 128 * 8 * (1.0 / 8 + 1.0 / 4));
  EXPECT_EQ(words.staged, words.blocked);
}

TEST(Formulas, TailsCountWholeBlocks) {
  // Column-major: the kernel's rows are the caller's columns.
  const Problem p = problem(33, 17, 9);
  const WordFormulas words = word_formulas(p, row({16, 32, 8}, {1, 1}), false);
  EXPECT_EQ(words.blocked, 17.0 * 9 * 2 + 9.0 * 33 * 2);  // m = 17 in 2 blocks, n = 33 in 2
  EXPECT_EQ(words.staged, 32.0 * 16 * 2 + 16.0 * 64 * 2);
  EXPECT_EQ(words.shared, 2.0 * 32 * 64 * 16);
  const WordFormulas packed = word_formulas(p, row({16, 32, 8}, {1, 1}), true);
  EXPECT_EQ(packed.blocked, packed.staged);
  EXPECT_EQ(packed.naive, 2.0 * 32 * 64 * 16);
}

const FormulaCheck& find(const std::vector<FormulaCheck>& checks, std::string_view what) {
  for (const FormulaCheck& check : checks) {
    if (check.what == what) return check;
  }
  throw std::runtime_error("no such formula");
}

TEST(Formulas, ACountBesideItsFormula) {
  const Problem p = problem(64, 64, 64);
  const KernelRow tile = row({32, 32, 32}, {1, 1});
  const WordFormulas words = word_formulas(p, tile, false);
  const auto checks = check_formulas(p, tile, false, false,
                                     {words.blocked, words.output, words.shared, words.staged + 1});
  EXPECT_TRUE(find(checks, "global reads, blocked").equal());
  EXPECT_EQ(find(checks, "global reads, blocked").note, "");
  EXPECT_NE(find(checks, "global reads, naive").note.find("factor of 32"), std::string::npos);
  EXPECT_TRUE(find(checks, "shared reads").equal());
  EXPECT_FALSE(find(checks, "shared writes").equal());
  EXPECT_NE(find(checks, "shared writes").note, "");
}

TEST(Formulas, ReadsOfCAreNoReadsOfOperands) {
  Problem p = problem(64, 64, 64);
  p.beta = 0.5;
  const KernelRow one = row({32, 32, 1}, {1, 1});
  const WordFormulas words = word_formulas(p, one, false);
  const auto checks =
      check_formulas(p, one, false, false, {words.naive + words.output, words.output, 0, 0});
  EXPECT_TRUE(find(checks, "global reads, naive").equal());
  EXPECT_EQ(checks.size(), 4u);  // nothing of shared memory
}

}  // namespace
}  // namespace tessera::lab
