#include "gemm/select.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

constexpr int kMultiprocessors = 132;

std::string best(std::int64_t m, std::int64_t n, std::int64_t k, DataType type = DataType::kF32) {
  return gemm::best_kernel(with_default_ld({.m = m, .n = n, .k = k, .type = type}),
                           kMultiprocessors)
      .kernel->name;
}

std::string variant(std::int64_t m, std::int64_t n, std::int64_t k, const char* layout = "NT") {
  Problem problem{.m = m, .n = n, .k = k};
  set_layout(problem, layout);
  const KernelChoice choice = gemm::best_kernel(with_default_ld(problem), kMultiprocessors);
  EXPECT_EQ(choice.kernel->name, "simt_f32");
  return choice.variant;
}

TEST(Select, LargeProblemsTakeTheLargestTile) {
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    EXPECT_EQ(variant(4096, 4096, 4096, layout), "256x128") << layout;
    EXPECT_EQ(variant(16384, 16384, 16384, layout), "256x128") << layout;
  }
}

// 16 tiles of 128x128 would leave most of 132 multiprocessors idle.
TEST(Select, SmallProblemsTakeSmallTiles) {
  EXPECT_NE(variant(512, 512, 512), "256x128");
  EXPECT_NE(variant(512, 512, 512), "128x128");
}

// Column-major: the kernel's rows are our columns.
TEST(Select, ThinOutputsTakeThinTiles) {
  EXPECT_EQ(variant(16, 8192, 8192), "128x16");
  EXPECT_EQ(variant(32, 32, 1048576), "64x32");
}

TEST(Select, TypesDecide) {
  EXPECT_EQ(best(4096, 4096, 64, DataType::kF64), "24_tensor_core_wmma");
}

TEST(Select, EmptyProblemsHaveAKernelToo) { EXPECT_FALSE(best(0, 5, 5).empty()); }

// One more tile than there are slots costs a whole wave more: twice the time.
TEST(Select, ThePredictionCountsWholeWaves) {
  const KernelChoice choice = choose_kernels("12").front();
  const auto time = [&](std::int64_t n) {
    const Problem p = with_default_ld({.m = 128, .n = n, .k = 512});
    return gemm::predicted_milliseconds(row_for(*choice.kernel, choice.variant, p), 47.4, p,
                                        kMultiprocessors);
  };
  EXPECT_DOUBLE_EQ(time(128), time(128 * 264));
  EXPECT_DOUBLE_EQ(time(128 * 265), 2 * time(128));
}

}  // namespace
}  // namespace tessera
