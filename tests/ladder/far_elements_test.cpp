// Operands of more than 2^32 elements, for every kernel: lines, tiles and products of a batch that
// begin beyond 2^31 and beyond 2^32 elements. It finds an offset of 32 bits, signed or not.
#include <gtest/gtest.h>

#include <algorithm>

#include "device/virtual/virtual_device.h"
#include "gemm/plan/plan.h"
#include "tests/support/kernel_choice.h"
#include "tests/support/sparse_matrix.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

using gemm::Policy;

Device& sparse_gpu() {
  static const std::unique_ptr<Device> device =
      make_virtual_device({.memory_bytes = kSparseMemory, .sms = 3});
  return *device;
}

// The least distance of so many lines at which the last begins beyond 2^32 elements, and one in the
// middle beyond 2^31; a multiple of 16 elements, or one more.
std::int64_t pitch_of(std::int64_t lines, bool is_aligned) {
  const std::int64_t least = (std::int64_t{1} << 32) / std::max<std::int64_t>(lines - 1, 1);
  return least / 16 * 16 + 16 + (is_aligned ? 0 : 1);
}

class FarElements : public testing::TestWithParam<KernelChoice> {
 protected:
  void SetUp() override {
    if (test_on_cuda()) GTEST_SKIP() << "a real GPU has no memory that exists only where touched";
  }
  const Kernel& kernel() const { return *GetParam().kernel; }
  std::vector<const KernelRow*> rows() const {
    std::vector<const KernelRow*> all;
    for (const KernelRow& row : rows_of(kernel(), GetParam().variant)) all.push_back(&row);
    return all;
  }
  bool is_default() const { return GetParam().variant == kernel().rows.front().variant; }
  // Most rungs with tensor copies multiply NN alone, and aligned; warpgroups_test.cpp has that.
  bool takes(const char* layout, bool is_aligned) const {
    if (kernel().family != "warpgroups" || rows().size() > 1) return true;
    return std::string_view(layout) == "NN" && is_aligned;
  }
  // Sums that are rounded to 16 bits first take none.
  bool takes_epilogue() const {
    const ElementType d = kernel().types.d;
    return kernel().applies_epilogue || (size_of(d) > 2 && is_float(d));
  }
  Problem far_problem(std::int64_t m, std::int64_t n, std::int64_t k, const char* layout,
                      bool is_aligned) const {
    Problem p{.m = m, .n = n, .k = k, .types = kernel().types, .order = Order::kRowMajor};
    set_layout(p, layout);
    p.lda = pitch_of(p.op_a == Op::kNone ? m : k, is_aligned);
    p.ldb = pitch_of(p.op_b == Op::kNone ? k : n, is_aligned);
    p.ldc = p.ldd = pitch_of(m, is_aligned);
    return p;
  }
};

// Lines of one tile; also where operands are repacked, and where a launch applies the epilogue.
TEST_P(FarElements, Lines) {
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (const bool is_aligned : {true, false}) {
      if (!takes(layout, is_aligned) || (!is_aligned && !is_default())) continue;
      Problem problem = far_problem(5, 34, 5, layout, is_aligned);
      problem.beta = is_aligned ? 0 : -2;
      if (problem.op_a == problem.op_b && takes_epilogue())
        problem.epilogue.activation = Activation::kRelu;
      expect_sparse_product(sparse_gpu(), GetParam(), problem, {.repack = Policy::kAlways});
    }
  }
}

// Tiles after the first, in both directions and along k, split where the kernel can.
TEST_P(FarElements, Tiles) {
  const BlockTile block = rows().front()->block;
  for (const char* layout : {"NN", "NT", "TN"}) {
    if (!takes(layout, true)) continue;
    const Problem problem = far_problem(block.m + 1, block.n + 1, 2 * block.k + 1, layout, true);
    const bool has_remainder = problem.op_a == problem.op_b;
    expect_sparse_product(
        sparse_gpu(), GetParam(), problem,
        {.split = Policy::kAlways, .remainder = has_remainder ? Policy::kAlways : Policy::kModel});
  }
}

TEST_P(FarElements, Products) {
  constexpr std::int64_t kStride = (std::int64_t{1} << 31) + 16;
  Problem problem = with_default_ld({.m = 16, .n = 8, .k = 8, .types = kernel().types});
  problem.beta = 2;
  problem.batch = {.kind = BatchKind::kStrided,
                   .count = 3,
                   .stride_a = kStride,
                   .stride_b = kStride + 16,
                   .stride_c = kStride + 32,
                   .stride_d = kStride + 48};
  expect_sparse_product(sparse_gpu(), GetParam(), problem);
}

INSTANTIATE_TEST_SUITE_P(Kernels, FarElements, testing::ValuesIn(choose_kernels("all/all")),
                         test_name);

}  // namespace
}  // namespace tessera
