#include "problem/operands.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

namespace tessera {
namespace {

Problem make(std::int64_t m, std::int64_t n, std::int64_t k, Order order, const char* layout) {
  Problem problem{.m = m, .n = n, .k = k, .order = order};
  set_layout(problem, layout);
  return with_default_ld(problem);
}

TEST(Problem, FillsInTheSmallestLeadingDimensions) {
  const Problem col = make(5, 7, 3, Order::kColumnMajor, "NT");
  EXPECT_EQ(col.lda, 5);
  EXPECT_EQ(col.ldb, 7);
  EXPECT_EQ(col.ldc, 5);
  const Problem row = make(5, 7, 3, Order::kRowMajor, "NT");
  EXPECT_EQ(row.lda, 3);
  EXPECT_EQ(row.ldb, 3);
  EXPECT_EQ(row.ldc, 7);
  EXPECT_EQ(make(0, 0, 0, Order::kRowMajor, "NN").lda, 1);
}

// The leading dimension of a matrix with one line, or with empty lines, is never used.
TEST(Problem, LeadingDimensionsThatAreNotUsedMayBeAnyNumber) {
  Problem problem{.m = 5, .n = 1, .k = 3};
  problem.ldb = problem.ldd = std::numeric_limits<std::int64_t>::max();
  problem.lda = 9;
  Problem taken = with_default_ld(problem);
  EXPECT_TRUE(check(taken).ok()) << check(taken).message;
  EXPECT_EQ(taken.ldb, 3);
  EXPECT_EQ(taken.ldd, 5);
  EXPECT_EQ(taken.lda, 9);
  problem.ldb = 100;
  EXPECT_EQ(with_default_ld(problem).ldb, 100) << "it may say how lines would be aligned";
  problem.n = 2;
  EXPECT_FALSE(check(with_default_ld(problem)).ok());
  problem.m = 0;
  EXPECT_TRUE(check(with_default_ld(problem)).ok());
}

TEST(Problem, NamesArgumentValueAndRule) {
  Problem problem = make(5, 7, 3, Order::kColumnMajor, "NN");
  problem.lda = 4;
  EXPECT_EQ(check(problem).message.substr(0, 36), "lda is 4, but must be at least 5 for");
  problem = make(5, 7, 3, Order::kColumnMajor, "NN");
  problem.k = -1;
  EXPECT_EQ(check(problem).message, "k is -1, but a size must be at least 0");
  problem = make(std::int64_t{1} << 40, std::int64_t{1} << 40, 1, Order::kRowMajor, "NN");
  EXPECT_NE(check(problem).message.find("signed 64-bit"), std::string::npos);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  problem = make(most, most, most, Order::kColumnMajor, "NN");
  EXPECT_NE(check(problem).message.find("signed 64-bit"), std::string::npos);
  problem = make(5, 7, 3, Order::kRowMajor, "NN");
  problem.alpha = 1e300;
  EXPECT_EQ(check(problem).message, "alpha is 1e+300, but a finite factor must stay finite in f32");
  problem.types = kF64Types;
  EXPECT_TRUE(check(problem).ok());
  EXPECT_THROW(set_layout(problem, "NX"), StatusError);
  EXPECT_THROW(set_layout(problem, "NNN"), StatusError);
  EXPECT_THROW(parse_order("diagonal"), StatusError);
}

// Multiplies small integer matrices in the canonical form: C and D row-major.
std::vector<float> multiply_canonical(const Canonical& p, const float* a, const float* b,
                                      std::size_t d_size) {
  std::vector<float> d(d_size, -1);
  if (p.exchanged) std::swap(a, b);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      float sum = 0;
      for (std::int64_t l = 0; l < p.k; ++l) {
        sum += a[i * p.a.row + l * p.a.col] * b[l * p.b.row + j * p.b.col];
      }
      d[static_cast<std::size_t>(i * p.d_row + j)] = static_cast<float>(p.alpha) * sum;
    }
  }
  return d;
}

TEST(Problem, CanonicalFormComputesTheCallersProduct) {
  for (const Order order : {Order::kColumnMajor, Order::kRowMajor}) {
    for (const char* layout : {"NN", "NT", "TN", "TT"}) {
      const Problem problem = make(3, 4, 5, order, layout);
      const MatrixView va = view_a(problem), vb = view_b(problem), vd = view_d(problem);
      std::vector<float> a(static_cast<std::size_t>(va.span()));
      std::vector<float> b(static_cast<std::size_t>(vb.span()));
      for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i + 1);
      for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * i % 7);
      const auto d = multiply_canonical(canonical(problem), a.data(), b.data(),
                                        static_cast<std::size_t>(vd.span()));
      for (std::int64_t i = 0; i < 3; ++i) {
        for (std::int64_t j = 0; j < 4; ++j) {
          float want = 0;
          for (std::int64_t l = 0; l < 5; ++l) {
            want += a[static_cast<std::size_t>(i * va.row + l * va.col)] *
                    b[static_cast<std::size_t>(l * vb.row + j * vb.col)];
          }
          EXPECT_EQ(d[static_cast<std::size_t>(i * vd.row + j * vd.col)], want) << layout;
        }
      }
    }
  }
}

TEST(Problem, ReadsNothingWhenAlphaOrKIsZero) {
  Problem problem = make(3, 4, 5, Order::kRowMajor, "NN");
  problem.alpha = 0;
  EXPECT_EQ(canonical(problem).k, 0);
  problem.alpha = 2;
  problem.k = 0;
  EXPECT_EQ(canonical(problem).alpha, 0);
}

// The trailing update of a blocked LU inside one column-major matrix: A22 -= A21 * A12. The blocks
// interleave in memory and share no element.
struct LuStep {
  Problem problem;
  Operands operands;
};
LuStep lu_step() {
  constexpr int n = 12, done = 4;
  Problem p{.m = n - done,
            .n = n - done,
            .k = done,
            .lda = n,
            .ldb = n,
            .ldc = n,
            .ldd = n,
            .alpha = -1,
            .beta = 1};
  const auto at = [](int r, int c) { return 0x1000 + 4u * static_cast<unsigned>(r + c * n); };
  return {p, {.a = at(done, 0), .b = at(0, done), .c = at(done, done), .d = at(done, done)}};
}

TEST(Overlap, TrailingUpdateOfABlockedLuIsLegal) {
  const LuStep step = lu_step();
  EXPECT_TRUE(check_overlap(step.problem, step.operands).ok());
}

TEST(Overlap, OneSharedElementIsRefused) {
  LuStep step = lu_step();
  step.operands.b += 4;  // B's last row of every column is now D's first
  const Status status = check_overlap(step.problem, step.operands);
  EXPECT_EQ(status.message.substr(0, 27), "D shares an element with B,");
  step = lu_step();
  step.operands.a += 12 * 4;  // A's last column is now D's first
  EXPECT_EQ(check_overlap(step.problem, step.operands).message.substr(0, 27),
            "D shares an element with A,");
}

TEST(Overlap, CMustBeDItselfOrApart) {
  Problem p = make(4, 4, 4, Order::kRowMajor, "NN");
  p.beta = 1;
  EXPECT_TRUE(check_overlap(p, {.a = 0x1000, .b = 0x2000, .c = 0x3000, .d = 0x3000}).ok());
  EXPECT_FALSE(check_overlap(p, {.a = 0x1000, .b = 0x2000, .c = 0x3004, .d = 0x3000}).ok());
  p.beta = 0;  // C is not read
  EXPECT_TRUE(check_overlap(p, {.a = 0x1000, .b = 0x2000, .c = 0x3004, .d = 0x3000}).ok());
  p.alpha = 0;  // neither are A and B
  EXPECT_TRUE(check_overlap(p, {.a = 0x3000, .b = 0x3000, .c = 0, .d = 0x3000}).ok());
}

// Every pair of small strided matrices, against a bitmap.
TEST(Overlap, AgreesWithABitmapOnSmallMatrices) {
  for (int ld_a = 2; ld_a <= 5; ++ld_a) {
    for (int ld_d = 2; ld_d <= 5; ++ld_d) {
      for (int offset = -16; offset <= 16; ++offset) {
        Problem p{.m = 2, .n = 3, .k = 4, .lda = ld_a, .ldb = 4, .ldc = ld_d, .ldd = ld_d};
        const Operands at{
            .a = 0x1000, .b = 0x9000, .c = 0, .d = static_cast<std::uint64_t>(0x1000 + 4 * offset)};
        bool shared = false;
        for (int ai = 0; ai < 2 * 4; ++ai) {
          for (int di = 0; di < 2 * 3; ++di) {
            shared |= ai % 2 + ai / 2 * ld_a == offset + di % 2 + di / 2 * ld_d;
          }
        }
        EXPECT_EQ(check_overlap(p, at).ok(), !shared) << ld_a << ' ' << ld_d << ' ' << offset;
      }
    }
  }
}

TEST(Problem, EachOperandHasItsOwnType) {
  // 2^61 elements of A: too many as FP64, and as FP32, but not as E4M3.
  Problem problem{.m = std::int64_t{1} << 31, .n = 1, .k = std::int64_t{1} << 30};
  const auto fits = [&](const Types& types) {
    problem.types = types;
    return check(with_default_ld(problem)).ok();
  };
  EXPECT_FALSE(fits(kF64Types));
  EXPECT_FALSE(fits(kF32Types));
  EXPECT_TRUE(fits(kE4m3Types));
  Types wide_a = kE4m3Types;
  wide_a.a = ElementType::kF64;
  EXPECT_FALSE(fits(wide_a));
  Types wide_d = kE4m3Types;
  wide_d.d = ElementType::kF64;
  EXPECT_TRUE(fits(wide_d));
}

TEST(Problem, OverlapCountsTheBytesOfEachOperand) {
  const Problem problem = [] {
    Problem p = make(4, 4, 4, Order::kColumnMajor, "NN");
    p.types = kBf16Types;
    p.types.c = p.types.d = ElementType::kF32;
    p.beta = 1;
    return p;
  }();
  // A has 32 bytes, D 64.
  EXPECT_TRUE(check_overlap(problem, {.a = 1000, .b = 2000, .c = 3000, .d = 1032}).ok());
  EXPECT_FALSE(check_overlap(problem, {.a = 1000, .b = 2000, .c = 3000, .d = 1031}).ok());
  EXPECT_FALSE(check_overlap(problem, {.a = 1063, .b = 2000, .c = 3000, .d = 1000}).ok());
  EXPECT_TRUE(check_overlap(problem, {.a = 1000, .b = 2000, .c = 3000, .d = 3000}).ok());
  Problem wider = problem;
  wider.ldc += 1;
  EXPECT_FALSE(check_overlap(wider, {.a = 1000, .b = 2000, .c = 3000, .d = 3000}).ok())
      << "D in place of a C of another leading dimension";
  Problem mixed = problem;
  mixed.types.c = ElementType::kBf16;
  EXPECT_FALSE(check_overlap(mixed, {.a = 1000, .b = 2000, .c = 3000, .d = 3000}).ok())
      << "D in place of a C of another size";
}

TEST(Problem, FactorsAreNumbersOfTheTypeOfTheSums) {
  Problem problem = make(4, 4, 4, Order::kRowMajor, "NN");
  problem.types = kBf16Types;
  problem.alpha = 1e39;
  EXPECT_EQ(check(problem).message, "alpha is 1e+39, but a finite factor must stay finite in f32");
  problem.alpha = 1 + 0x1p-20;
  EXPECT_TRUE(check(problem).ok());
  problem.types = kS8Types;
  EXPECT_EQ(check(problem).message, "alpha is 1, but a factor must be a whole number of s32");
  problem.alpha = -3;
  EXPECT_TRUE(check(problem).ok());
  problem.beta = 3e9;
  EXPECT_EQ(check(problem).message, "beta is 3e+09, but a factor must be a whole number of s32");
}

TEST(Problem, CanonicalFormExchangesTheTypesToo) {
  Problem problem = make(5, 7, 3, Order::kColumnMajor, "NT");
  problem.types.a = ElementType::kE4m3;
  problem.types.b = ElementType::kE5m2;
  Canonical c = canonical(problem);
  EXPECT_TRUE(c.exchanged);
  EXPECT_EQ(c.types.a, ElementType::kE5m2);
  EXPECT_EQ(c.types.b, ElementType::kE4m3);
  EXPECT_EQ(c.m, 7);
  EXPECT_EQ(c.n, 5);
  problem.order = Order::kRowMajor;
  c = canonical(problem);
  EXPECT_FALSE(c.exchanged);
  EXPECT_EQ(c.types.a, ElementType::kE4m3);
  EXPECT_EQ(c.m, 5);
}

TEST(Problem, BatchesNameTheirRules) {
  Problem problem = make(4, 4, 4, Order::kRowMajor, "NN");
  const auto message = [&](const Batch& batch) {
    problem.batch = batch;
    return check(problem).message;
  };
  EXPECT_EQ(message({.count = 2}), "batch_count is 2, but must be 1 without a batch");
  EXPECT_EQ(message({.kind = BatchKind::kStrided, .count = -1}),
            "batch_count is -1, but must be at least 0");
  EXPECT_EQ(message({.kind = BatchKind::kStrided, .count = 2, .stride_a = -16, .stride_d = 16}),
            "stride_a is -16, but must be at least 0");
  EXPECT_EQ(message({.kind = BatchKind::kStrided, .count = 2}),
            "stride_d is 0, but 2 products must not share one D");
  EXPECT_EQ(
      message({.kind = BatchKind::kPointers, .count = 2, .alignment = 12}),
      "batch_alignment is 12, but must be a power of two: what every address is a multiple of");
  EXPECT_EQ(message({.kind = BatchKind::kPointers, .count = 2, .alignment = 16}), "");
  EXPECT_EQ(message({.kind = BatchKind::kStrided, .count = 3, .stride_d = 16}), "");
  const std::int64_t far = std::int64_t{1} << 60;
  EXPECT_NE(message({.kind = BatchKind::kStrided, .count = 3, .stride_b = far, .stride_d = 16})
                .find("matrix B is 4 x 4"),
            std::string::npos);
  EXPECT_EQ(message({.kind = static_cast<BatchKind>(7)}),
            "batch kind is number 7, but there is no such value");
}

TEST(Problem, AddressesOfABatchAreThoseOfElements) {
  Problem problem = make(4, 4, 4, Order::kRowMajor, "NN");
  problem.batch = {.kind = BatchKind::kPointers, .count = 2, .alignment = 2};
  EXPECT_EQ(check(problem).message, "batch_alignment is 2, but elements of type f32 are 4 bytes");
  problem.batch.alignment = 4;
  EXPECT_TRUE(check(problem).ok());
}

// Nobody adds such a stride to anything. Its bytes would not fit 64 bits, which a build with
// sanitizers finds, as the fuzzer did.
TEST(Problem, ABatchOfOneTakesAnyStride) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  Problem problem = make(3, 4, 5, Order::kRowMajor, "NN");
  problem.batch = {.kind = BatchKind::kStrided, .count = 1};
  problem.batch.stride_a = problem.batch.stride_b = most;
  problem.batch.stride_c = problem.batch.stride_d = most;
  problem.beta = 1;
  EXPECT_EQ(check(problem).message, "");
  EXPECT_EQ(check_overlap(problem, {0x1000, 0x2000, 0x3000, 0x4000}).message, "");
  EXPECT_EQ(check_overlap(problem, {0x1000, 0x2000, 0x4000, 0x4000}).message, "") << "in place";
  EXPECT_FALSE(check_overlap(problem, {0x4004, 0x2000, 0x3000, 0x4000}).ok());
  problem.batch.count = 2;
  EXPECT_FALSE(check(problem).ok());
  problem.n = 0;
  EXPECT_TRUE(check_overlap(problem, {0x1000, 0x2000, 0x3000, 0x4000}).ok()) << "empty";
}

// All addresses and sizes here are small enough to be tried one by one.
TEST(Problem, OverlapInABatchIsExact) {
  Problem problem = make(2, 2, 2, Order::kRowMajor, "NN");
  problem.lda = 3, problem.ldd = 7, problem.ldb = 2;
  constexpr std::int64_t kFloat = 4, kFar = 1 << 20;
  const auto touches = [&](std::uint64_t a, std::uint64_t d) {
    const Batch& batch = problem.batch;
    for (int i = 0; i < batch.count; ++i) {
      for (int j = 0; j < batch.count; ++j) {
        for (int x = 0; x < 4; ++x) {
          for (int y = 0; y < 4; ++y) {
            const std::int64_t of_d = i * batch.stride_d + x / 2 * problem.ldd + x % 2;
            const std::int64_t of_a = j * batch.stride_a + y / 2 * problem.lda + y % 2;
            if (d + of_d * kFloat == a + of_a * kFloat) return true;
          }
        }
      }
    }
    return false;
  };
  int shared = 0, apart = 0;
  for (const std::int64_t stride_a : {0, 2, 5, 14, 21}) {
    for (const std::int64_t stride_d : {2, 3, 9, 14, 20}) {
      problem.batch = {.kind = BatchKind::kStrided,
                       .count = 3,
                       .stride_a = stride_a,
                       .stride_b = 0,
                       .stride_c = 0,
                       .stride_d = stride_d};
      if (!check(problem).ok()) continue;
      for (int at = -60; at <= 60; ++at) {
        const std::uint64_t a = 4000, d = 4000 + at * kFloat;
        const bool expected = touches(a, d);
        EXPECT_EQ(check_overlap(problem, {a, kFar, 0, d}).ok(), !expected)
            << stride_a << ' ' << stride_d << ' ' << at;
        (expected ? shared : apart)++;
      }
    }
  }
  EXPECT_GT(shared, 100);
  EXPECT_GT(apart, 100);
}

TEST(Problem, ABatchIsInPlaceWhereEachProductIs) {
  Problem problem = make(4, 4, 4, Order::kRowMajor, "NN");
  problem.beta = 1;
  problem.batch = {.kind = BatchKind::kStrided, .count = 3, .stride_c = 16, .stride_d = 16};
  const Operands operands{1 << 20, 1 << 21, 4096, 4096};
  EXPECT_TRUE(check_overlap(problem, operands).ok());
  problem.batch.stride_c = 32;
  EXPECT_EQ(check_overlap(problem, operands).message,
            "D shares an element with C, but D must be C itself (same address, type, ldd = ldc, "
            "stride_d = stride_c) or apart from it");
  problem.batch.stride_c = 0;
  EXPECT_FALSE(check_overlap(problem, operands).ok());
  problem.batch = {.kind = BatchKind::kPointers, .count = 3, .alignment = 16};
  EXPECT_TRUE(check_overlap(problem, {4096, 4096, 4096, 4096}).ok()) << "not checked";
}

TEST(Problem, WhatNoKernelDoesIsRefusedByName) {
  Problem problem = make(4, 4, 4, Order::kRowMajor, "NN");
  problem.epilogue = {VectorKind::kNone, VectorKind::kPerRow, Activation::kGelu};
  EXPECT_TRUE(check_supported(problem).ok());
  problem.types = kS8Types;
  EXPECT_EQ(check_supported(problem).message,
            "no kernel takes an epilogue (bias per row, gelu) of sums in s32 yet");
  EXPECT_EQ(check_supported(problem).code, StatusCode::kUnsupported);
  problem.epilogue = {};
  EXPECT_TRUE(check_supported(problem).ok());
  problem.scales = {.a = ScaleKind::kPerRow, .d = ScaleKind::kPerTensor};
  EXPECT_EQ(check_supported(problem).message,
            "no kernel takes scales (A per row, D per tensor) yet");
  problem.scales = {.b = static_cast<ScaleKind>(9)};
  EXPECT_EQ(check(problem).message, "scale of B is number 9, but there is no such value");
  problem.scales = {};
  problem.epilogue = {.scale = static_cast<VectorKind>(3)};
  EXPECT_EQ(check(problem).message, "epilogue scale is number 3, but there is no such value");
  problem.epilogue = {.bias = static_cast<VectorKind>(-1)};
  EXPECT_EQ(check(problem).message, "epilogue bias is number -1, but there is no such value");
  problem.epilogue = {.activation = static_cast<Activation>(99)};
  EXPECT_EQ(check(problem).message, "epilogue activation is number 99, but there is no such value");
}

}  // namespace
}  // namespace tessera
