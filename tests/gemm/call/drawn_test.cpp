// Problems drawn by seed from classes at the edges of kernels: D of few columns, rows that are
// aligned though n is not, gaps between the products of a batch, remainder tiles in place, a single
// tile with a long k, alone and in a batch. Each runs with one of the ways that the plan would
// consider, verified on the virtual GPU under all checks.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "gemm/plan/plan.h"
#include "lab/verify/verify.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

constexpr int kDraws = 24;  // of each class

class Drawn {
 public:
  explicit Drawn(unsigned seed) : random_(seed) {}

  std::int64_t from(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  template <std::size_t n>
  auto one_of(const std::int64_t (&list)[n]) {
    return list[static_cast<std::size_t>(from(0, n - 1))];
  }

  Problem problem(std::int64_t m, std::int64_t n, std::int64_t k) {
    constexpr Types kTypes[] = {kF32Types,       kF64Types, kTf32Types,     kBf16Types, kF16Types,
                                kBf16ToF32Types, kF32Types, kF16ToF32Types, kBf16Types};
    constexpr const char* kLayouts[] = {"NN", "NT", "TN", "TT"};
    Problem p{.m = m, .n = n, .k = k};
    p.types = kTypes[from(0, 8)];
    p.order = from(0, 1) ? Order::kRowMajor : Order::kColumnMajor;
    set_layout(p, kLayouts[from(0, 3)]);
    p.alpha = from(0, 3) ? -1.5 : 1;
    p.beta = static_cast<double>(from(-1, 1));
    if (from(0, 1)) std::swap(p.m, p.n);
    return with_default_ld(p);
  }
  // Lines that begin at multiples of 16 bytes, whatever their length.
  void align_lines(Problem& p) {
    const auto aligned = [&](std::int64_t& ld, ElementType type) {
      const std::int64_t unit = 16 / size_of(type);
      ld = (ld + unit - 1) / unit * unit + unit * from(0, 2);
    };
    aligned(p.lda, p.types.a);
    aligned(p.ldb, p.types.b);
    aligned(p.ldc, p.types.c);
    aligned(p.ldd, p.types.d);
  }
  void make_batch(Problem& p) {
    const auto stride = [&](const MatrixView& view) { return view.span() + one_of({0, 1, 8, 24}); };
    p.batch = {.kind = BatchKind::kStrided,
               .count = from(2, 5),
               .stride_a = from(0, 4) ? stride(view_a(p)) : 0,
               .stride_b = from(0, 4) ? stride(view_b(p)) : 0,
               .stride_c = stride(view_c(p)),
               .stride_d = stride(view_d(p))};
  }

 private:
  std::mt19937 random_;
};

// One of the ways that a plan would consider, not only the best one.
void verify_one_way(const Problem& problem, Drawn& draw, bool in_place,
                    std::map<std::string, int>& ran) {
  const gemm::Plan plan = gemm::plan(problem, {}, gemm::limits_of(small_test_device().info()));
  const gemm::Candidate& offer = plan.offers[static_cast<std::size_t>(
      draw.from(0, static_cast<std::int64_t>(plan.offers.size()) - 1))];
  lab::VerifyOptions options;
  options.checks = !test_on_cuda();
  options.in_place = in_place;
  const KernelChoice choice = choose_kernels(offer.name()).front();
  const lab::VerifyResult result = lab::verify(small_test_device(), choice, problem, options);
  ++ran[offer.kernel->name];
  EXPECT_TRUE(result.ok()) << offer.name() << ' ' << layout_of(problem) << ' '
                           << name_of(problem.order) << ' ' << problem.m << 'x' << problem.n << 'x'
                           << problem.k << " ld " << problem.lda << ' ' << problem.ldb << ' '
                           << problem.ldc << ' ' << problem.ldd << " beta " << problem.beta << ' '
                           << describe(problem.batch) << (in_place ? " in place: " : ": ")
                           << result.reason;
}

void put_c_where_d_is(Problem& p) {
  p.ldc = p.ldd;
  p.beta = 1;
  if (p.batch.kind == BatchKind::kStrided) p.batch.stride_c = p.batch.stride_d;
}

TEST(Drawn, FewColumns) {
  Drawn draw(1);
  std::map<std::string, int> ran;
  for (int i = 0; i < kDraws; ++i) {
    Problem p = draw.problem(draw.from(1, 140), draw.from(1, 3), draw.from(1, 90));
    if (draw.from(0, 1)) draw.align_lines(p);
    verify_one_way(p, draw, false, ran);
  }
  EXPECT_GT(ran.size(), 6u);
}

TEST(Drawn, RaggedColumnsInAlignedRows) {
  Drawn draw(2);
  std::map<std::string, int> ran;
  for (int i = 0; i < kDraws; ++i) {
    Problem p = draw.problem(draw.from(1, 200), draw.from(1, 200), draw.from(1, 70));
    draw.align_lines(p);
    verify_one_way(p, draw, false, ran);
  }
  EXPECT_GT(ran.size(), 6u);
}

TEST(Drawn, RemaindersInPlace) {
  Drawn draw(3);
  std::map<std::string, int> ran;
  for (int i = 0; i < kDraws; ++i) {
    Problem p = draw.problem(128 * draw.from(1, 2) + draw.from(1, 40),
                             64 * draw.from(1, 3) + draw.from(1, 20), draw.from(8, 60));
    if (draw.from(0, 1)) draw.align_lines(p);
    put_c_where_d_is(p);
    verify_one_way(p, draw, true, ran);
  }
  EXPECT_GT(ran.size(), 6u);
}

TEST(Drawn, BatchesWithGaps) {
  Drawn draw(4);
  std::map<std::string, int> ran;
  for (int i = 0; i < kDraws; ++i) {
    Problem p = draw.problem(draw.from(1, 70), draw.from(1, 70), draw.from(1, 70));
    if (draw.from(0, 1)) draw.align_lines(p);
    draw.make_batch(p);
    const bool in_place = draw.from(0, 2) == 0;
    if (in_place) put_c_where_d_is(p);
    verify_one_way(p, draw, in_place, ran);
  }
  EXPECT_GT(ran.size(), 6u);
}

TEST(Drawn, OneTileWithALongK) {
  Drawn draw(5);
  std::map<std::string, int> ran;
  for (int i = 0; i < kDraws; ++i) {
    Problem p = draw.problem(draw.from(1, 64), draw.from(1, 64), draw.from(600, 1400));
    if (draw.from(0, 1)) draw.align_lines(p);
    if (i % 3 == 0) draw.make_batch(p);
    verify_one_way(p, draw, false, ran);
  }
  EXPECT_GT(ran.size(), 6u);
}

}  // namespace
}  // namespace tessera
