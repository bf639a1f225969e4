// A batch that is one product: it is found where there is one, and every element keeps its address.
#include "gemm/rewrites/fold.h"

#include <gtest/gtest.h>

#include <random>

#include "gemm/plan/plan.h"
#include "lab/verify/verify.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

std::int64_t address(const MatrixView& view, std::int64_t row, std::int64_t col) {
  return row * view.row + col * view.col;
}

// Whether element (row, col) of each product is where the one product has it. `below`: the products
// are one below the other in the one product's matrix; else side by side; 0: they share it.
enum class Joined { kBelow, kBeside, kShared };
bool is_same_memory(const MatrixView& of, std::int64_t stride, std::int64_t count,
                    const MatrixView& one, Joined joined) {
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t row = 0; row < of.rows; ++row) {
      for (std::int64_t col = 0; col < of.cols; ++col) {
        const std::int64_t at = address(one, joined == Joined::kBelow ? i * of.rows + row : row,
                                        joined == Joined::kBeside ? i * of.cols + col : col);
        if (i * stride + address(of, row, col) != at) return false;
      }
    }
  }
  return true;
}

::testing::AssertionResult is_right(const Problem& p, const Problem& one) {
  const bool by_rows = one.m != p.m;
  const Batch& batch = p.batch;
  const auto fail = [&](const char* what) {
    return ::testing::AssertionFailure()
           << what << " of " << layout_of(p) << ' ' << name_of(p.order) << ' ' << p.m << 'x' << p.n
           << 'x' << p.k << " lds " << p.lda << ' ' << p.ldb << ' ' << p.ldc << ' ' << p.ldd
           << " strides " << batch.stride_a << ' ' << batch.stride_b << ' ' << batch.stride_c << ' '
           << batch.stride_d;
  };
  if (one.batch.kind != BatchKind::kNone || one.k != p.k) return fail("batch or k");
  if (one.m != (by_rows ? p.m * batch.count : p.m)) return fail("m");
  if (one.n != (by_rows ? p.n : p.n * batch.count)) return fail("n");
  if (!check(one).ok()) return fail("legality");
  const Joined d = by_rows ? Joined::kBelow : Joined::kBeside;
  const auto same = [&](const MatrixView& of, std::int64_t stride, const MatrixView& all,
                        Joined joined) {
    return is_same_memory(of, stride, batch.count, all, joined);
  };
  if (p.alpha != 0) {
    const Joined a = by_rows ? Joined::kBelow : Joined::kShared;
    const Joined b = by_rows ? Joined::kShared : Joined::kBeside;
    if (!same(view_a(p), batch.stride_a, view_a(one), a)) return fail("A");
    if (!same(view_b(p), batch.stride_b, view_b(one), b)) return fail("B");
  }
  if (p.beta != 0 && !same(view_c(p), batch.stride_c, view_c(one), d)) return fail("C");
  if (!same(view_d(p), batch.stride_d, view_d(one), d)) return fail("D");
  return ::testing::AssertionSuccess();
}

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  std::int64_t upto(std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random_);
  }
  Problem problem() {
    Problem p{.m = 1 + upto(3), .n = 1 + upto(3), .k = 1 + upto(3)};
    p.order = upto(1) ? Order::kRowMajor : Order::kColumnMajor;
    p.op_a = upto(1) ? Op::kTranspose : Op::kNone;
    p.op_b = upto(1) ? Op::kTranspose : Op::kNone;
    p.alpha = upto(5) ? 1 : 0;
    p.beta = upto(1) ? 1 : 0;
    p = with_default_ld(p);
    for (std::int64_t* ld : {&p.lda, &p.ldb, &p.ldc, &p.ldd}) *ld += upto(2) ? 0 : upto(5);
    return p;
  }

 private:
  std::mt19937 random_;
};

// The rows of a product, so many in each of `count` products.
Problem split_by_rows(Problem all, std::int64_t count) {
  Problem p = all;
  p.m = all.m / count;
  p.batch = {.kind = BatchKind::kStrided,
             .count = count,
             .stride_a = p.m * view_a(all).row,
             .stride_c = p.m * view_c(all).row,
             .stride_d = p.m * view_d(all).row};
  return p;
}
Problem split_by_columns(Problem all, std::int64_t count) {
  Problem p = all;
  p.n = all.n / count;
  p.batch = {.kind = BatchKind::kStrided,
             .count = count,
             .stride_b = p.n * view_b(all).col,
             .stride_c = p.n * view_c(all).col,
             .stride_d = p.n * view_d(all).col};
  return p;
}

TEST(Fold, APartOfEachProductIsFound) {
  Draw draw(20261126);
  for (int i = 0; i < 4000; ++i) {
    const std::int64_t count = 2 + draw.upto(3);
    Problem all = draw.problem();
    const bool by_rows = i % 2 == 0;
    (by_rows ? all.m : all.n) *= count;
    all.lda = all.ldb = all.ldc = all.ldd = 0;
    all = with_default_ld(all);
    for (std::int64_t* ld : {&all.lda, &all.ldb, &all.ldc, &all.ldd}) *ld += draw.upto(2);
    const Problem batch = by_rows ? split_by_rows(all, count) : split_by_columns(all, count);
    const auto one = gemm::folded(batch);
    ASSERT_TRUE(one.has_value()) << i;
    ASSERT_TRUE(is_right(batch, *one)) << i;
  }
}

// Strides near those that continue: whatever is folded has every element where it was.
TEST(Fold, NothingElseIsTakenForOneProduct) {
  Draw draw(7);
  int found = 0, legal = 0;
  for (int i = 0; i < 200'000; ++i) {
    Problem p = draw.problem();
    const auto stride = [&](const MatrixView& view) {
      const std::int64_t near[] = {
          0, 1, view.row, view.col, view.rows * view.row, view.cols * view.col, view.span()};
      return std::max<std::int64_t>(0, near[draw.upto(6)] + (draw.upto(7) ? 0 : draw.upto(2) - 1));
    };
    p.batch = {.kind = BatchKind::kStrided,
               .count = 2 + draw.upto(2),
               .stride_a = stride(view_a(p)),
               .stride_b = stride(view_b(p)),
               .stride_c = stride(view_c(p)),
               .stride_d = stride(view_d(p))};
    if (!check(p).ok()) continue;
    ++legal;
    const auto one = gemm::folded(p);
    if (!one) continue;
    ++found;
    ASSERT_TRUE(is_right(p, *one)) << i;
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(legal - found, 10'000);
}

// What keeps a batch a batch.
TEST(Fold, ABatchStaysOneWhereItsProductsDiffer) {
  Problem p{.m = 1, .n = 8, .k = 4, .order = Order::kRowMajor};
  p = with_default_ld(p);
  p.batch = {.kind = BatchKind::kStrided, .count = 6, .stride_a = 4, .stride_d = 8};
  ASSERT_TRUE(gemm::folded(p));
  const auto stays = [&](auto change) {
    Problem other = p;
    change(other);
    return !gemm::folded(other);
  };
  EXPECT_TRUE(stays([](Problem& q) { q.epilogue.bias = VectorKind::kPerRow; }));
  EXPECT_TRUE(stays([](Problem& q) { q.epilogue.scale = VectorKind::kPerRow; }));
  EXPECT_FALSE(stays([](Problem& q) { q.epilogue.bias = VectorKind::kPerColumn; }));
  EXPECT_TRUE(stays([](Problem& q) { q.batch.stride_b = 32; }));
  EXPECT_TRUE(stays([](Problem& q) { q.batch.count = 1; }));
  EXPECT_TRUE(stays([](Problem& q) { q.beta = 1; })) << "all products share C";
  EXPECT_TRUE(stays([](Problem& q) { q.m = 0; }));
  EXPECT_TRUE(stays([](Problem& q) {
    q.batch.kind = BatchKind::kPointers;
    q.batch.alignment = 16;
  }));
}

TEST(Fold, AVectorOfColumnsIsOneOfColumnsAfterColumnsAreJoined) {
  Problem p{.m = 8, .n = 1, .k = 4};
  p = with_default_ld(p);
  p.batch = {.kind = BatchKind::kStrided, .count = 6, .stride_b = 4, .stride_d = 8};
  p.epilogue = {.scale = VectorKind::kPerRow, .activation = Activation::kRelu};
  const auto one = gemm::folded(p);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->n, 6);
  EXPECT_EQ(one->epilogue, p.epilogue);
  p.epilogue.scale = VectorKind::kPerColumn;
  EXPECT_FALSE(gemm::folded(p));
}

// A decode step: 64 rows in 64 products.
TEST(Fold, AStepOfDecodingIsOneProduct) {
  Problem p{.m = 1, .n = 11008, .k = 4096, .types = kBf16Types, .order = Order::kRowMajor};
  p = with_default_ld(p);
  p.batch = {.kind = BatchKind::kStrided, .count = 64, .stride_a = 4096, .stride_d = 11008};
  const gemm::DeviceLimits limits{.sm = 90, .sms = 132, .l2_bytes = 50 << 20};
  const gemm::Plan plan = gemm::plan(p, {}, limits);
  EXPECT_TRUE(plan.is_folded());
  EXPECT_EQ(plan.folded_products, 64);
  EXPECT_EQ(plan.problem.m, 64);
  EXPECT_EQ(plan.rounds(), 1);
  Problem same = plan.problem;
  EXPECT_EQ(gemm::plan(same, {}, limits).kernel().name, plan.kernel().name);
  const gemm::Plan batch = gemm::plan(p, {}, limits, {.fold = gemm::Policy::kNever});
  EXPECT_FALSE(batch.is_folded());
  EXPECT_LT(plan.offers.front().cost.total(), batch.offers.front().cost.total() / 4);
}

TEST(Fold, ProductsAreRight) {
  for (const char* kernel : {"simt_f32/64x32", "small_f32/16x16", "wgmma_bf16/64x32x128_s6_coop",
                             "mma_f16_f32/64x64", "dmma_f64/64x32", "simt_f32_vector"}) {
    const KernelChoice choice = choose_kernels(kernel).front();
    for (const bool by_rows : {true, false}) {
      for (const Order order : {Order::kRowMajor, Order::kColumnMajor}) {
        Problem all{.m = by_rows ? 6 : 1,
                    .n = by_rows ? 1 : 6,
                    .k = 40,
                    .types = choice.kernel->types,
                    .order = order,
                    .op_b = Op::kTranspose,
                    .alpha = 2,
                    .beta = -1};
        all = with_default_ld(all);
        const Problem p = by_rows ? split_by_rows(all, 3) : split_by_columns(all, 3);
        lab::VerifyOptions options;
        options.checks = !test_on_cuda();
        const lab::VerifyResult result = lab::verify(small_test_device(), choice, p, options);
        EXPECT_TRUE(result.ok()) << kernel << by_rows << ": " << result.reason;
      }
    }
  }
}

}  // namespace
}  // namespace tessera
