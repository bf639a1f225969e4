// Batches of 2-byte elements whose rows begin at odd addresses, each product at another parity:
// they are read and stored by aligned pieces, but nothing outside of a matrix, and no NaN between
// its rows or beside it gets in.
#include <gtest/gtest.h>

#include <array>

#include "gemm/call/multiply.h"
#include "lab/verify/verify.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

Problem batch_of_three(const Types& types, const char* layout, std::int64_t m, std::int64_t n,
                       std::int64_t k, int pad) {
  Problem p{.m = m, .n = n, .k = k, .types = types, .order = Order::kRowMajor};
  set_layout(p, layout);
  p = with_default_ld(p);
  p.lda += pad, p.ldb += pad, p.ldc += pad, p.ldd += pad;
  p.batch = {.kind = BatchKind::kStrided,
             .count = 3,
             .stride_a = view_a(p).span() + 1,
             .stride_b = view_b(p).span() + 1,
             .stride_c = view_c(p).span() + 1,
             .stride_d = view_d(p).span() + 1};
  return p;
}

void expect_right(const char* kernel, const char* layout, int pad) {
  const KernelChoice choice = choose_kernels(kernel).front();
  lab::VerifyOptions options;
  options.checks = !test_on_cuda();
  options.misalign = pad / 2;
  options.nans = 2;
  // Several tiles, of more k than the ring has stages, and less than an aligned piece.
  for (const auto& [m, n, k] : {std::array<int, 3>{67, 81, 269}, {5, 3, 7}}) {
    const Problem problem = batch_of_three(choice.kernel->types, layout, m, n, k, pad);
    const lab::VerifyResult result = lab::verify(small_test_device(), choice, problem, options);
    EXPECT_TRUE(result.ok()) << kernel << ' ' << layout << ' ' << pad << ": " << result.reason;
  }
}

TEST(OddRows, AreMultipliedOnTensorCores) {
  for (const char* kernel : {"mma_bf16/64x64", "mma_f16/128x128", "mma_bf16_f32/64x64"}) {
    for (const char* layout : {"NN", "NT", "TN", "TT"}) {
      expect_right(kernel, layout, 0);
      expect_right(kernel, layout, 2);
    }
  }
}

}  // namespace
}  // namespace tessera
