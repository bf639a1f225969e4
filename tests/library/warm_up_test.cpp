// First calls: a warm-up leaves them nothing to load, and images of their type are unpacked ahead.
#include <array>

#include "tests/library/library.h"

namespace {

tessera_problem of_type(std::int32_t type, std::int64_t size) {
  tessera_problem problem{};
  problem.size = sizeof problem;
  problem.m = problem.n = problem.k = size;
  problem.type_a = type;
  return problem;
}

TEST_F(Library, AWarmUpLoadsWhatCallsNeed) {
  const std::array problems = {of_type(TESSERA_BF16, 512), of_type(TESSERA_F64, 300), problem_};
  ASSERT_EQ(tessera_warm_up(handle_, problems.data(), problems.size(), nullptr, nullptr),
            TESSERA_OK)
      << tessera_last_message();
  EXPECT_TRUE(says(calls(), "cuModuleLoadDataEx"));
  EXPECT_TRUE(says(calls(), "cuModuleGetFunction"));
  EXPECT_FALSE(says(calls(), "cuLaunchKernel"));
  for (const double beta : {0.0, 0.5}) {
    for (const tessera_problem& problem : problems) {
      fake<void()>("fake_cuda_clear")();
      const tessera_arguments in = arguments();
      ASSERT_EQ(tessera_gemm(handle_, &problem, 2, in.a, in.b, beta, in.d, in.d, nullptr),
                TESSERA_OK)
          << tessera_last_message();
      EXPECT_TRUE(says(calls(), "cuLaunchKernel"));
      for (const char* call : {"cuModule", "cuMemAlloc", "cuTensorMapEncode"}) {
        EXPECT_FALSE(says(calls(), call)) << call << " at beta " << beta << "\n" << calls();
      }
    }
  }
}

TEST_F(Library, AWarmUpChecksItsProblems) {
  std::array problems = {problem_, problem_};
  problems[1].lda = 1;
  EXPECT_EQ(tessera_warm_up(handle_, problems.data(), 2, nullptr, nullptr), TESSERA_BAD_ARGUMENT);
  EXPECT_TRUE(says(tessera_last_message(), "lda is 1")) << tessera_last_message();
  EXPECT_EQ(tessera_warm_up(handle_, nullptr, 1, nullptr, nullptr), TESSERA_BAD_ARGUMENT);
  EXPECT_TRUE(says(tessera_last_message(), "problems is null")) << tessera_last_message();
  EXPECT_EQ(tessera_warm_up(handle_, nullptr, 0, nullptr, nullptr), TESSERA_OK);
  problems[1] = problem_;
  problems[1].memory = TESSERA_HOST_MEMORY;
  EXPECT_EQ(tessera_warm_up(handle_, problems.data(), 2, nullptr, nullptr), TESSERA_BAD_ARGUMENT);
  EXPECT_TRUE(says(tessera_last_message(), "memory")) << tessera_last_message();
}

}  // namespace
