// Binding checks every rule before anything is launched; what it binds runs in place inside one
// matrix.
#include "gemm/bind.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/test_device.h"

namespace tessera {
namespace {

// The trailing update of a blocked LU, A22 -= A21 * A12, inside one column-major matrix.
constexpr int kSize = 48, kDone = 16;

struct LuUpdate {
  Problem problem{.m = kSize - kDone,
                  .n = kSize - kDone,
                  .k = kDone,
                  .lda = kSize,
                  .ldb = kSize,
                  .ldc = kSize,
                  .ldd = kSize,
                  .alpha = -1,
                  .beta = 1};
  Operands operands;

  explicit LuUpdate(DeviceAddress base) {
    const auto at = [&](int r, int c) { return base + 4u * static_cast<unsigned>(r + c * kSize); };
    operands = {at(kDone, 0), at(0, kDone), at(kDone, kDone), at(kDone, kDone)};
  }
};

std::vector<float> integers() {
  std::vector<float> matrix(kSize * kSize);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<float>(i * 37 % 11) - 5;
  return matrix;
}

TEST(Bind, TrailingUpdateOfABlockedLuRunsInPlace) {
  Device& device = test_device();
  std::vector<float> matrix = integers(), want = matrix;
  for (int c = kDone; c < kSize; ++c) {
    for (int r = kDone; r < kSize; ++r) {
      for (int l = 0; l < kDone; ++l) {
        want[r + c * kSize] -= matrix[r + l * kSize] * matrix[l + c * kSize];
      }
    }
  }
  const std::size_t bytes = matrix.size() * sizeof(float);
  for (const KernelChoice& choice : choose_kernels("01,07,12")) {
    const DeviceAddress base = device.allocate(bytes);
    device.copy_in(base, matrix.data(), bytes);
    const LuUpdate update(base);
    gemm::run(device, choice, gemm::bind(choice, update.problem, update.operands, {}).plan);
    device.synchronize();
    std::vector<float> got(matrix.size());
    device.copy_out(got.data(), base, bytes);
    device.free(base);
    EXPECT_EQ(got, want) << choice.kernel->name;
  }
}

TEST(Bind, RefusesOneSharedElement) {
  LuUpdate update(0x10000);
  update.operands.a += kSize * 4;
  EXPECT_THROW(gemm::bind(choose_kernels("12").front(), update.problem, update.operands, {}),
               StatusError);
}

TEST(Bind, RefusesAnIllegalProblemAndAWrongType) {
  LuUpdate update(0x10000);
  update.problem.lda = kSize - kDone - 1;
  EXPECT_THROW(gemm::bind(choose_kernels("12").front(), update.problem, update.operands, {}),
               StatusError);
  const LuUpdate legal(0x10000);
  EXPECT_THROW(gemm::bind(choose_kernels("24").front(), legal.problem, legal.operands, {}),
               StatusError);
}

}  // namespace
}  // namespace tessera
