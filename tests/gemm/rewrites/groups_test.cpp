// Groups of rows, each multiplied by a B of its own: planned as a product for each group, and right
// to the last element, whatever the order, the layout, and the sizes of the groups.
#include "gemm/rewrites/groups.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "device/buffer.h"
#include "gemm/call/prepare.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

// Small whole numbers, so that every sum is exact.
template <class T>
std::vector<T> whole_numbers(std::int64_t count, std::mt19937& random) {
  std::vector<T> all(static_cast<std::size_t>(count));
  for (T& x : all) x = static_cast<T>(std::uniform_int_distribution<int>(-4, 4)(random));
  return all;
}

// An operand of the call, in the memory of the GPU.
template <class T>
struct OnGpu {
  explicit OnGpu(std::vector<T> values)
      : host(std::move(values)), buffer(small_test_device(), bytes()) {
    small_test_device().copy_in(buffer.address(), host.data(), bytes());
  }
  std::size_t bytes() const { return host.size() * sizeof(T); }

  std::vector<T> host;
  DeviceBuffer buffer;
};

template <class T>
T at(const std::vector<T>& values, const MatrixView& view, std::int64_t row, std::int64_t col) {
  return values[static_cast<std::size_t>(row * view.row + col * view.col)];
}

// D by the definition; elements outside of D keep what they were.
template <class T>
std::vector<T> multiplied(const Problem& p, const OnGpu<T>& a, const OnGpu<T>& b, const OnGpu<T>& c,
                          const OnGpu<T>& bias, std::vector<T> d) {
  const MatrixView view = view_d(p);
  std::int64_t group = 0, end = p.batch.rows.empty() ? p.m : p.batch.rows[0];
  for (std::int64_t i = 0; i < p.m; ++i) {
    while (i >= end) end += p.batch.rows[static_cast<std::size_t>(++group)];
    for (std::int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < p.k; ++l) {
        MatrixView of_b = view_b(p);
        const auto index = group * p.batch.stride_b + l * of_b.row + j * of_b.col;
        sum +=
            double{at(a.host, view_a(p), i, l)} * double{b.host[static_cast<std::size_t>(index)]};
      }
      sum = p.alpha * sum + (p.beta == 0 ? 0 : p.beta * at(c.host, view_c(p), i, j));
      if (p.epilogue.bias == VectorKind::kPerRow) sum += bias.host[static_cast<std::size_t>(i)];
      if (p.epilogue.activation == Activation::kRelu) sum = std::max(sum, 0.0);
      d[static_cast<std::size_t>(i * view.row + j * view.col)] = static_cast<T>(sum);
    }
  }
  return d;
}

Problem drawn_groups(const Types& types, std::mt19937& random) {
  const auto from = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  constexpr const char* kLayouts[] = {"NN", "NT", "TN", "TT"};
  Problem p{.n = from(1, 70), .k = from(1, 60), .types = types};
  p.order = from(0, 1) ? Order::kRowMajor : Order::kColumnMajor;
  set_layout(p, kLayouts[from(0, 3)]);
  p.alpha = from(-2, 2);
  p.beta = from(-1, 1);
  p.batch = {.kind = BatchKind::kGroups, .count = from(1, 5)};
  for (int i = 0; i < p.batch.count; ++i) p.batch.rows.push_back(from(0, 3) ? from(0, 70) : 0);
  p.m = std::accumulate(p.batch.rows.begin(), p.batch.rows.end(), std::int64_t{0});
  p.lda = p.ldb = p.ldc = p.ldd = 0;
  p = with_default_ld(p);
  if (from(0, 1)) p.lda += 3, p.ldb += from(0, 4), p.ldd += 8;
  p.batch.stride_b = view_b(p).span() + from(0, 5);
  if (from(0, 2) == 0) p.epilogue = parse_epilogue("bias_row+relu");
  return p;
}

template <class T>
void run_groups(const Problem& p, std::mt19937& random) {
  const auto numbers = [&](std::int64_t count) {
    return OnGpu<T>(whole_numbers<T>(count, random));
  };
  const auto a = numbers(view_a(p).span()), c = numbers(view_c(p).span()), bias = numbers(p.m);
  const auto b = numbers((p.batch.count - 1) * p.batch.stride_b + view_b(p).span());
  const auto d = numbers(view_d(p).span());
  const gemm::Plan plan = gemm::plan(p, {}, gemm::limits_of(small_test_device().info()));
  const DeviceBuffer workspace(small_test_device(),
                               static_cast<std::size_t>(plan.workspace_bytes()) + 1);
  const Operands operands{a.buffer.address(), b.buffer.address(), c.buffer.address(),
                          d.buffer.address(), DeviceAddress{0},   bias.buffer.address()};
  gemm::execute(gemm::prepare(small_test_device(), plan),
                {operands, p.alpha, p.beta, workspace.address(), plan.workspace_bytes()});
  std::vector<T> got(d.host.size());
  small_test_device().copy_out(got.data(), d.buffer.address(), got.size() * sizeof(T));
  EXPECT_EQ(got, multiplied(p, a, b, c, bias, d.host))
      << layout_of(p) << ' ' << name_of(p.order) << ' ' << p.m << 'x' << p.n << 'x' << p.k << ' '
      << describe(p.batch);
}

TEST(Groups, EachRowMeetsTheMatrixOfItsGroup) {
  std::mt19937 random(1126);
  for (int i = 0; i < 40; ++i) {
    run_groups<float>(drawn_groups(kF32Types, random), random);
    run_groups<double>(drawn_groups(kF64Types, random), random);
  }
}

// 300 rows for one expert and 20 for another.
TEST(Groups, TwoGroupsAreTwoProducts) {
  Problem p{.m = 320, .n = 512, .k = 256, .types = kBf16Types, .order = Order::kRowMajor};
  p = with_default_ld(p);
  p.batch = {.kind = BatchKind::kGroups, .count = 2, .stride_b = 512 * 256, .rows = {300, 20}};
  const gemm::DeviceLimits limits{.sm = 90, .sms = 132, .l2_bytes = 50 << 20};
  const gemm::Plan plan = gemm::plan(p, {}, limits);
  int products = 0;
  for (const gemm::Step& step : plan.steps) products += step.pass == gemm::Pass::kMultiply;
  EXPECT_EQ(products, 2);
  EXPECT_TRUE(plan.offers.front().decision_text().ends_with("in 2 groups of rows"));
  EXPECT_EQ(plan.operands[OperandId::kB].product_stride, 512 * 256) << "the table knows both";
  double alone = 0;
  for (const std::int64_t rows : p.batch.rows) {
    Problem one = p;
    one.m = rows, one.batch = {};
    alone += gemm::plan(one, {}, limits).offers.front().cost.total();
  }
  EXPECT_DOUBLE_EQ(plan.offers.front().cost.total(), alone);
}

// Rows of A of a column-major product begin at any element.
TEST(Groups, AnOddBeginningLowersTheAlignment) {
  Problem p{.m = 8, .n = 4, .k = 4};
  p = with_default_ld(p);
  p.batch = {.kind = BatchKind::kGroups, .count = 3, .stride_b = 16, .rows = {5, 1, 2}};
  const auto products = gemm::products_of_groups(gemm::subproblem_of(p, {}));
  ASSERT_EQ(products.size(), 3u);
  EXPECT_EQ(products[0].alignment.a, 16);
  EXPECT_EQ(products[1].alignment.a, 4) << "5 floats behind";
  EXPECT_EQ(products[2].alignment.a, 8) << "6 floats behind";
  EXPECT_EQ(products[1].alignment.b, 16);
  EXPECT_EQ(products[2].alignment.d, 8);
}

TEST(Groups, BadOnesAreRefusedByName) {
  const auto message = [](std::vector<std::int64_t> rows, std::int64_t count, std::int64_t stride_b,
                          std::int64_t stride_d = 0) {
    Problem p = with_default_ld({.m = 8, .n = 4, .k = 4});
    p.batch = {.kind = BatchKind::kGroups,
               .count = count,
               .stride_b = stride_b,
               .stride_d = stride_d,
               .rows = std::move(rows)};
    return check(p).message;
  };
  EXPECT_EQ(message({5, 3}, 2, 16), "");
  EXPECT_EQ(message({8, 0}, 2, 0), "") << "they may share one B";
  EXPECT_EQ(message({5, 3}, 3, 16), "batch_count is 3, but 2 groups have a number of rows");
  EXPECT_EQ(message({9, -1}, 2, 16), "rows of group 1 are -1, but must be at least 0");
  EXPECT_EQ(message({5, 2}, 2, 16), "m is 8, but the groups have 7 rows");
  constexpr std::int64_t kFar = std::int64_t{1} << 62;
  EXPECT_EQ(message({kFar, kFar, kFar}, 3, 16), "m is 8, but the groups have more rows");
  EXPECT_EQ(message({5, 3}, 2, -1),
            "stride_b is -1, but must be at least 0 in a batch of groups, and the other strides 0");
  EXPECT_EQ(message({5, 3}, 2, 16, 4),
            "stride_b is 16, but must be at least 0 in a batch of groups, and the other strides 0");
  EXPECT_NE(message({5, 3}, 2, kFar).find("batch_count 2 and stride_b"), std::string::npos);
}

}  // namespace
}  // namespace tessera
