// Batches: which outputs may interleave, and how many products there may be.
#include <gtest/gtest.h>

#include "problem/problem.h"

namespace tessera {
namespace {

Problem make(std::int64_t m, std::int64_t n, std::int64_t k, Order order, const char* layout) {
  Problem problem{.m = m, .n = n, .k = k, .order = order};
  set_layout(problem, layout);
  return with_default_ld(problem);
}

// D is 3 rows of 4 elements, 10 apart: products may interleave in the gaps of 6.
TEST(Problem, OutputsOfABatchShareNoElement) {
  Problem problem = make(3, 4, 5, Order::kRowMajor, "NN");
  problem.ldd = 10;
  const auto message = [&](std::int64_t count, std::int64_t stride) {
    problem.batch = {.kind = BatchKind::kStrided, .count = count, .stride_d = stride};
    return check(problem).message;
  };
  EXPECT_EQ(message(1, 0), "");
  EXPECT_EQ(message(2, 24), "") << "one past the last element";
  EXPECT_EQ(message(2, 4), "") << "in the gap";
  EXPECT_EQ(message(2, 6), "");
  EXPECT_EQ(message(2, 3), "stride_d is 3, but D of products 0 and 1 must not share an element");
  EXPECT_EQ(message(2, 7), "stride_d is 7, but D of products 0 and 1 must not share an element");
  EXPECT_EQ(message(3, 4), "stride_d is 4, but D of products 0 and 2 must not share an element");
  EXPECT_EQ(message(3, 14), "");
  EXPECT_EQ(message(1000000, 24), "");
  EXPECT_EQ(message(4, 4), "stride_d is 4, but D of products 0 and 2 must not share an element");
  EXPECT_EQ(message(4, 7), "stride_d is 7, but D of products 0 and 1 must not share an element");
  EXPECT_EQ(message(5, 40), "");
  problem.m = 0;
  EXPECT_EQ(message(2, 1), "") << "nothing is written";
}

// As many products as there are gaps between two columns: told at once, not product by product.
TEST(Problem, BatchesOfAnySizeAreChecked) {
  Problem problem = make(1, 2, 1, Order::kColumnMajor, "NN");
  problem.ldd = std::int64_t{1} << 59;
  problem.batch = {.kind = BatchKind::kStrided, .count = problem.ldd, .stride_d = 1};
  EXPECT_EQ(check(problem).message, "");
  problem.batch.count += 1;
  EXPECT_EQ(check(problem).message,
            "stride_d is 1, but D of products 0 and 576460752303423488 must not share an element");
  problem.batch = {.kind = BatchKind::kPointers, .count = 2};
  EXPECT_TRUE(check(problem).message.starts_with("batch_alignment is 0, but"))
      << "it has no default";
  problem.batch.alignment = 4;
  problem.batch.count = std::int64_t{1} << 60;
  EXPECT_EQ(check(problem).message,
            "batch_count is 1152921504606846976, but must be at most 1152921504606846975: so many "
            "addresses end beyond the address space");
}

}  // namespace
}  // namespace tessera
