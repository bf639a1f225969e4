// What failing cases have in common, from cases that a planted rule makes fail.
#include "lab/verify/common.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace tessera::lab {
namespace {

using Cases = std::vector<LatticeCase>;

struct Split {
  Cases failed, passed;
};

Split split_by(const std::function<bool(const LatticeCase&)>& fails) {
  Split split;
  for (const LatticeCase& one : lattice(kF32Types)) {
    (fails(one) ? split.failed : split.passed).push_back(one);
  }
  return split;
}

Shared shared_where(const std::function<bool(const LatticeCase&)>& fails) {
  const Split split = split_by(fails);
  return shared_by_failures(split.failed, split.passed);
}

TEST(SharedByFailures, NamesThePlantedProperty) {
  const auto only = [](const char* property) { return std::vector<std::string>{property}; };
  EXPECT_EQ(shared_where([](const auto& c) { return c.problem.k > 32; }).properties,
            only("k > 32"));
  EXPECT_EQ(shared_where([](const auto& c) { return c.problem.m % 5 == 4; }).properties,
            only("m mod 5 = 4"));
  EXPECT_EQ(shared_where([](const auto& c) { return c.problem.n % 4 != 0; }).properties,
            only("n no multiple of 4"));
  EXPECT_EQ(shared_where([](const auto& c) { return c.problem.op_a != Op::kNone; }).properties,
            only("A transposed"));
  EXPECT_EQ(shared_where([](const auto& c) { return c.problem.beta == 0; }).properties,
            only("beta = 0"));
  EXPECT_EQ(shared_where([](const auto& c) { return c.misalign.any(); }).properties,
            only("misaligned operands"));
}

TEST(SharedByFailures, JoinsTwoThatAreNeededTogether) {
  const Shared shared = shared_where([](const LatticeCase& c) {
    return c.problem.op_b == Op::kNone && c.problem.order == Order::kRowMajor;
  });
  EXPECT_EQ(shared.properties.size(), 2u);
  EXPECT_EQ(shared.passed_too, 0u);
  for (const char* property : {"B not transposed", "row-major order"}) {
    EXPECT_NE(std::ranges::find(shared.properties, property), shared.properties.end()) << property;
  }
}

TEST(SharedByFailures, SaysNothingOfFewOrOfAll) {
  const Split split = split_by([](const auto& c) { return c.problem.k > 32; });
  const Cases two(split.failed.begin(), split.failed.begin() + 2);
  EXPECT_TRUE(shared_by_failures(two, split.passed).properties.empty());
  EXPECT_TRUE(shared_by_failures(split.failed, {}).properties.empty());
  EXPECT_EQ(shared_text(split.failed, {}), "");
}

TEST(SharedByFailures, TheSentenceCountsTheOthers) {
  const Split split = split_by([](const auto& c) { return c.problem.op_a != Op::kNone; });
  Cases passed = split.passed;
  EXPECT_EQ(shared_text(split.failed, passed), "All " + std::to_string(split.failed.size()) +
                                                   " that fail have A transposed; none of the " +
                                                   std::to_string(passed.size()) +
                                                   " that pass has that.");
  const Cases failed(split.failed.begin() + 1, split.failed.end());
  passed.push_back(split.failed.front());
  const std::string text = shared_text(failed, passed);
  EXPECT_NE(text.find("have A transposed"), std::string::npos) << text;
}

}  // namespace
}  // namespace tessera::lab
