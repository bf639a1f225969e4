// Rungs 34 to 44, on what all of them take: NN in either order, A and B with rows at multiples of
// 16 bytes. D, C and all sizes are free. And what they refuse.
#include <gtest/gtest.h>

#include <array>

#include "device/virtual/virtual_device.h"
#include "gemm/plan/plan.h"
#include "lab/verify/lattice.h"
#include "lab/verify/verify.h"
#include "tests/support/kernel_choice.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

std::vector<KernelChoice> rungs() {
  std::vector<KernelChoice> choices;
  for (const KernelChoice& choice : choose_kernels("rungs/all")) {
    if (choice.kernel->family == "warpgroups") choices.push_back(choice);
  }
  return choices;
}

class Warpgroups : public testing::TestWithParam<KernelChoice> {
 protected:
  const Kernel& kernel() const { return *GetParam().kernel; }
  BlockTile block() const { return rows_of(kernel(), GetParam().variant).front().block; }

  Problem problem(std::int64_t m, std::int64_t n, std::int64_t k, Order order) const {
    Problem p{.m = m, .n = n, .k = k, .types = kernel().types, .order = order};
    p = with_default_ld(p);
    p.lda = (p.lda + 7) / 8 * 8, p.ldb = (p.ldb + 7) / 8 * 8;
    return p;
  }
  void expect_verified(const Problem& p, const lab::VerifyOptions& options) const {
    const lab::VerifyResult result = lab::verify(small_test_device(), GetParam(), p, options);
    EXPECT_TRUE(result.ok()) << lab::LatticeCase{p}.name() << ": " << result.reason;
  }
};

// Tails of k, from part of a stage to more than any ring holds; outputs around whole tiles.
TEST_P(Warpgroups, EveryDepth) {
  const std::array<std::int64_t, 5> rows = {1, block().m / 2 + 3, block().m, block().m + 1,
                                            2 * block().m + 5};
  const std::array<std::int64_t, 4> columns = {block().n, 7, block().n + 9, 2 * block().n - 1};
  std::vector<int> depths;
  for (int k = 1; k <= 130; k += k < 10 ? 1 : 7) depths.push_back(k);
  depths.insert(depths.end(), {192, 257, 512, 1031});
  for (std::size_t i = 0; i < depths.size(); ++i) {
    Problem p = problem(rows[i % 5], columns[i % 4], depths[i],
                        i % 3 ? Order::kColumnMajor : Order::kRowMajor);
    if (p.order == Order::kColumnMajor) {
      std::swap(p.m, p.n);
      p = problem(p.m, p.n, p.k, p.order);
    }
    p.alpha = i % 2 ? -1.5 : 1, p.beta = i % 4 == 3 ? 1 : i % 4 == 1 ? -1.5 : 0;
    p.ldc += i % 5 == 2 ? 3 : 0, p.ldd += i % 5 == 2 ? 3 : 0;
    const bool in_place = i % 7 == 3;
    expect_verified(p, {.nans = i % 6 == 0 ? 2 : 0,
                        .in_place = in_place,
                        .checks = i % 4 == 0 && !test_on_cuda()});
  }
}

// More tiles than the grid has CTAs: what is left in the ring and in the panels between them.
TEST_P(Warpgroups, ManyTiles) {
  const BlockTile of = block();
  for (const bool ragged : {false, true}) {
    Problem p = problem(4 * of.m - (ragged ? 3 : 0), 2 * of.n + (ragged ? 11 : 0),
                        3 * of.k + (ragged ? 9 : 0), Order::kRowMajor);
    p.beta = ragged ? 1 : 0;
    expect_verified(p, {.checks = !test_on_cuda()});
  }
}

TEST_P(Warpgroups, RefuseByName) {
  if (!kernel().rows.front().repack_entry.empty()) GTEST_SKIP() << "a rung that takes everything";
  const auto message = [&](Problem p, const gemm::Alignment& alignment) {
    try {
      gemm::plan(p, alignment, {}, {.kernel = GetParam()});
      return std::string("planned");
    } catch (const StatusError& error) {
      EXPECT_EQ(error.status().code, StatusCode::kUnsupported);
      return error.status().message;
    }
  };
  Problem p = problem(64, 64, 64, Order::kColumnMajor);
  EXPECT_EQ(message(p, {}), "planned");
  p.lda += 1;
  EXPECT_NE(message(p, {}).find("multiple of 16 bytes, but " + kernel().name), std::string::npos);
  p.alpha = 0;
  EXPECT_EQ(message(p, {}), "planned") << "A and B are not read";
  for (const char* layout : {"NT", "TN", "TT"}) {
    Problem other = problem(64, 64, 64, Order::kColumnMajor);
    set_layout(other, layout);
    EXPECT_NE(
        message(other, {}).find("layout is " + std::string(layout) + ", but " + kernel().name),
        std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Rungs, Warpgroups, testing::ValuesIn(rungs()), test_name);

}  // namespace
}  // namespace tessera
