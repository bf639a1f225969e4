// The reader of the instruction tests, and that a wrong result cannot pass for a right one.
#include "tests/vgpu/instructions/case_file.h"

#include <gtest/gtest.h>

#include <fstream>

namespace tessera::vgpu {
namespace {

CaseFile read_text(const std::string& text) {
  const auto path = std::filesystem::path(testing::TempDir()) / "case_file_test.ptx";
  std::ofstream(path) << text;
  return read_case_file(path);
}

TEST(CaseFile, WordsAreAsWideAsTheirDigits) {
  const CaseFile file = read_text(
      "// op: two words\n// grid: 2  block: 64  shared: 16\n// case: 0102 03040506 -> 07 ....\n"
      "// case: -> nnnnnnnn\n.target sm_80\n");
  EXPECT_EQ(file.grid, 2);
  EXPECT_EQ(file.block, 64);
  EXPECT_EQ(file.shared_bytes, 16);
  EXPECT_EQ(file.target, "sm_80");
  const int expected[] = {2, 1, 6, 5, 4, 3};
  ASSERT_EQ(file.input.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(std::to_integer<int>(file.input[i]), expected[i]);
  ASSERT_EQ(file.output.size(), 3u);
  EXPECT_EQ(file.output_bytes(), 7u);
  EXPECT_EQ(file.output[1].expect, Expect::kAnything);
  EXPECT_EQ(file.output[2].expect, Expect::kNan);
}

TEST(CaseFile, FaultsAndTheirLine) {
  const CaseFile file = read_text(
      "// op: f\n// fault: deadlock bar.sync\n// grid: 1  block: 1  shared: 0\n"
      "  bar.sync 0;  // <- fault\n");
  EXPECT_TRUE(file.expects_fault());
  EXPECT_EQ(file.fault_line, 4);
  EXPECT_EQ(file.fault_words, (std::vector<std::string>{"deadlock", "bar.sync"}));
}

TEST(CaseFile, WhatExpectsNothingIsRefused) {
  EXPECT_THROW(read_text("// grid: 1  block: 1  shared: 0\n"), std::runtime_error);
  EXPECT_THROW(read_text("// case: -> 01\n"), std::runtime_error);
  EXPECT_THROW(read_text("// grid: 1  block: 1  shared: 0\n// case: -> 012\n"), std::runtime_error);
  EXPECT_THROW(read_text("// grid: 1  block: 1  shared: 0\n// case: -> 0x\n"), std::runtime_error);
}

TEST(CaseFile, ExactWordsAllowNoOther) {
  const ExpectedWord one{Expect::kExactly, 4, 0x3F800000, 1};
  EXPECT_TRUE(matches(one, 0x3F800000, 0));
  EXPECT_FALSE(matches(one, 0x3F800001, 0));
  const ExpectedWord zero{Expect::kExactly, 4, 0, 1};
  EXPECT_FALSE(matches(zero, 0x80000000, 0));
}

TEST(CaseFile, ToleranceCountsNeighbours) {
  const ExpectedWord one{Expect::kExactly, 4, 0x3F800000, 1};
  EXPECT_TRUE(matches(one, 0x3F7FFFFE, 2));
  EXPECT_FALSE(matches(one, 0x3F7FFFFD, 2));
  EXPECT_FALSE(matches(one, 0x7FFFFFFF, ~0ull));  // never a NaN for a number
  const ExpectedWord small{Expect::kExactly, 8, 1, 1};
  EXPECT_TRUE(matches(small, 0x8000000000000001, 2));
}

TEST(CaseFile, NanMeansAnyNan) {
  const ExpectedWord nan{Expect::kNan, 8, 0, 1};
  EXPECT_TRUE(matches(nan, 0x7FF8000000000001, 0));
  EXPECT_TRUE(matches(nan, 0xFFF8000000000000, 0));
  EXPECT_FALSE(matches(nan, 0x7FF0000000000000, 0));
  EXPECT_FALSE(matches(nan, 0, 0));
}

}  // namespace
}  // namespace tessera::vgpu
