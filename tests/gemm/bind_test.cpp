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

// Room is asked for by sizes alone. At 4097 operands are turned, tiles cut, and edges split.
TEST(Bind, TheRoomThatIsAskedForSufficesForThePlan) {
  const KernelChoice choice = choose_kernels("simt_f32").front();
  const Operands operands{0x10000000, 0x20000000, 0, 0x40000000};
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (const std::int64_t size : {200, 2049, 4096, 4097, 5000}) {
      Problem problem{.m = size, .n = size, .k = size};
      set_layout(problem, layout);
      problem = with_default_ld(problem);
      PlanContext context{.multiprocessors = 132, .workspace = 0x80000000};
      const Plan unbounded = gemm::bind(choice, problem, operands, context).plan;
      context.workspace_bytes = gemm::workspace_bytes(choice, problem, 132);
      const Plan plan = gemm::bind(choice, problem, operands, context).plan;
      ASSERT_EQ(plan.launches.size(), unbounded.launches.size()) << size << ' ' << layout;
      for (std::size_t i = 0; i < plan.launches.size(); ++i) {
        EXPECT_EQ(plan.launches[i].params, unbounded.launches[i].params) << size << ' ' << layout;
      }
      if (size == 4097) {
        EXPECT_EQ(plan.launches.size(), 7u) << layout;
      }
    }
  }
}

// One byte less than the plainest plan takes, or nothing at all: said before anything is launched.
TEST(Bind, ASmallerWorkspaceThanAnyPlanTakesIsRefused) {
  const KernelChoice choice = choose_kernels("simt_f32").front();
  const Operands operands{0x10000000, 0x20000000, 0, 0x40000000};
  const Problem problem = with_default_ld({.m = 257, .n = 129, .k = 64});
  const std::int64_t least =
      gemm::workspace_bytes(choice, problem, 132, {.turn = When::kNever, .edges = When::kNever});
  ASSERT_GT(least, 0);
  PlanContext context{.multiprocessors = 132, .workspace = 0x80000000, .workspace_bytes = least};
  EXPECT_NO_THROW(gemm::bind(choice, problem, operands, context));
  const auto message = [&] {
    try {
      gemm::bind(choice, problem, operands, context);
    } catch (const StatusError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  context.workspace_bytes = least - 1;
  EXPECT_NE(message().find(std::to_string(least)), std::string::npos) << message();
  context = {.multiprocessors = 132};
  EXPECT_NE(message().find("workspace holds 0 bytes"), std::string::npos) << message();
}

}  // namespace
}  // namespace tessera
