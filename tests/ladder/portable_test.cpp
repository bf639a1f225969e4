// The kernels for GPUs other than Hopper, in the PTX that those are given: the lattice of shapes,
// every depth around the stages, operands aligned and not, and rows beyond 2^31 elements. The
// lattice of all kernels runs the same sources compiled for sm_90a.
#include <gtest/gtest.h>

#include "device/virtual/virtual_device.h"
#include "lab/verify/lattice.h"
#include "lab/verify/verify.h"
#include "tests/support/kernel_choice.h"
#include "tests/support/sparse_matrix.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

std::vector<KernelChoice> portable_kernels() {
  return choose_kernels(
      "simt_*_sm*/all,dmma_f64_sm80/all,mma_*/all,small_f32/all,small_bf16*/all,small_f16*/all");
}

// A virtual GPU of the lowest SM that the kernel is for.
Device& oldest_gpu_of(const Kernel& kernel) {
  static const std::unique_ptr<Device> sm75 = make_virtual_gpu(75);
  static const std::unique_ptr<Device> sm80 = make_virtual_gpu(80);
  return kernel.first_sm == 75 ? *sm75 : *sm80;
}

class Portable : public testing::TestWithParam<KernelChoice> {
 protected:
  void SetUp() override {
    if (test_on_cuda()) GTEST_SKIP() << "the real GPU is given other code";
  }
  const Kernel& kernel() const { return *GetParam().kernel; }
  BlockTile block() const { return rows_of(kernel(), GetParam().variant).front().block; }

  void expect_verified(const lab::LatticeCase& each, lab::VerifyOptions options = {}) const {
    options.in_place = each.in_place;
    options.misalign = each.misalign;
    const lab::VerifyResult result =
        lab::verify(oldest_gpu_of(kernel()), GetParam(), each.problem, options);
    EXPECT_TRUE(result.ok()) << each.name() << ": " << result.reason;
    EXPECT_EQ(result.image.description,
              "ptx " + std::string(image_of(kernel(), kernel().rows.front().entry).portable_arch) +
                  " (virtual)");
  }
};

TEST_P(Portable, ShapesOfTheLattice) {
  for (const lab::LatticeCase& each : lab::short_lattice(kernel().types, 7)) expect_verified(each);
}

TEST_P(Portable, EveryDepth) {
  int i = 0;
  for (const lab::LatticeCase& each : lab::depth_lattice(block(), kernel().types, 8)) {
    if (i++ % 8 >= 4) continue;  // four layouts in a row; the code for sm_90a goes through them all
    expect_verified(each, {.nans = i % 8 == 1 ? 2 : 0, .checks = i % 4 == 1});
  }
}

// Whole tiles, aligned: the path that matters most, in every layout, past the depth of the ring,
// which is six at most.
TEST_P(Portable, WholeTilesInEveryLayout) {
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (const double beta : {0.0, 1.5}) {
      Problem problem{.m = 2 * block().m,
                      .n = block().n,
                      .k = 8 * block().k,
                      .types = kernel().types,
                      .alpha = beta == 0 ? 1 : -2.5,
                      .beta = beta};
      set_layout(problem, layout);
      expect_verified({with_default_ld(problem)}, {.checks = true});
    }
  }
}

// Lines of A, B, C and D begin beyond 2^31 elements.
TEST_P(Portable, LinesBeyondTwoToThe31Elements) {
  const auto device = make_virtual_gpu(kernel().first_sm, {.memory_bytes = kSparseMemory});
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (const std::int64_t pitch : {(std::int64_t{1} << 30) + 16, (std::int64_t{1} << 30) + 1}) {
      Problem problem{
          .m = 3, .n = 34, .k = 3, .types = kernel().types, .order = Order::kRowMajor, .beta = 2};
      problem.lda = problem.ldb = problem.ldc = problem.ldd = pitch;
      set_layout(problem, layout);
      expect_sparse_product(*device, GetParam(), problem);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, Portable, testing::ValuesIn(portable_kernels()), test_name);

}  // namespace
}  // namespace tessera
