// The kernels for GPUs other than Hopper, in the PTX that those are given: the lattice of shapes,
// every depth around the stages, operands aligned and not, and rows beyond 2^31 elements. The
// lattice of all kernels runs the same sources compiled for sm_90a.
#include <gtest/gtest.h>

#include "base/elements.h"
#include "device/virtual/virtual_device.h"
#include "lab/verify/lattice.h"
#include "lab/verify/prepared_call.h"
#include "lab/verify/verify.h"
#include "tests/support/kernel_choice.h"
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
    expect_verified(each, {.nans = i % 8 == 0 ? 2 : 0, .checks = i % 4 == 0});
    ++i;
  }
}

// Whole tiles, aligned: the path that matters most, in every layout, past the depth of the ring.
TEST_P(Portable, WholeTilesInEveryLayout) {
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (const double beta : {0.0, 1.5}) {
      Problem problem{.m = 2 * block().m,
                      .n = 2 * block().n,
                      .k = 12 * block().k,
                      .types = kernel().types,
                      .alpha = beta == 0 ? 1 : -2.5,
                      .beta = beta};
      set_layout(problem, layout);
      expect_verified({with_default_ld(problem)}, {.checks = true});
    }
  }
}

// A matrix of small integers on the device; memory exists only where it is touched.
template <class T>
struct SparseMatrix {
  DeviceBuffer buffer;
  MatrixView view;

  SparseMatrix(Device& device, const MatrixView& view)
      : buffer(device, static_cast<std::size_t>(view.span()) * sizeof(T)), view(view) {}
  static T value(std::int64_t r, std::int64_t c) { return static_cast<T>((3 * r + 5 * c) % 7 - 3); }
  DeviceAddress at(std::int64_t r, std::int64_t c) const {
    return buffer.address() + static_cast<DeviceAddress>(r * view.row + c * view.col) * sizeof(T);
  }
  void fill(Device& device) const {
    for (std::int64_t r = 0; r < view.rows; ++r) {
      for (std::int64_t c = 0; c < view.cols; ++c) {
        const T x = value(r, c);
        device.copy_in(at(r, c), &x, sizeof x);
      }
    }
  }
};

// Lines of A, B and D begin beyond 2^31 elements.
template <class T, class Out>
void expect_long_lines(const KernelChoice& choice, const char* layout, std::int64_t pitch) {
  const auto device =
      make_virtual_gpu(choice.kernel->first_sm, {.memory_bytes = std::size_t{1} << 42});
  Problem problem{
      .m = 3, .n = 34, .k = 3, .types = choice.kernel->types, .order = Order::kRowMajor};
  problem.lda = problem.ldb = problem.ldc = problem.ldd = pitch;
  set_layout(problem, layout);
  const SparseMatrix<T> a(*device, view_a(problem)), b(*device, view_b(problem));
  const SparseMatrix<Out> d(*device, view_d(problem));
  a.fill(*device);
  b.fill(*device);
  const Operands operands{a.at(0, 0), b.at(0, 0), 0, d.at(0, 0)};
  lab::PreparedCall(*device, choice, problem, gemm::alignment_of(operands)).run(operands);
  for (std::int64_t i = 0; i < problem.m; ++i) {
    for (std::int64_t j = 0; j < problem.n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < problem.k; ++l) {
        sum += static_cast<double>(a.value(i, l)) * static_cast<double>(b.value(l, j));
      }
      Out seen = static_cast<Out>(-1);
      device->copy_out(&seen, d.at(i, j), sizeof seen);
      ASSERT_EQ(static_cast<double>(seen), sum) << layout << ' ' << i << ", " << j;
    }
  }
}

TEST_P(Portable, LinesBeyondTwoToThe31Elements) {
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (const std::int64_t pitch : {(std::int64_t{1} << 30) + 16, (std::int64_t{1} << 30) + 1}) {
      on_element(kernel().types.a, "a test", [&](auto a) {
        on_element(kernel().types.d, "a test", [&](auto d) {
          expect_long_lines<decltype(a), decltype(d)>(GetParam(), layout, pitch);
        });
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, Portable, testing::ValuesIn(portable_kernels()), test_name);

}  // namespace
}  // namespace tessera
