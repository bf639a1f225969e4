// How a product with a vector is planned: one pass over the matrix, shared out so that all SMs have
// loads on their way. What is planned is verified on the virtual GPU under all checks.
#include <gtest/gtest.h>

#include <cstring>

#include "gemm/plan/plan.h"
#include "kernels/families/simt/vector_params.h"
#include "lab/verify/verify.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

constexpr gemm::DeviceLimits kHopper{.sm = 90, .sms = 132};

Problem problem_of(std::int64_t m, std::int64_t n, std::int64_t k, const char* layout,
                   const Types& types = kF32Types) {
  Problem problem{.m = m, .n = n, .k = k, .types = types};
  set_layout(problem, layout);
  return with_default_ld(problem);
}

vector::Params params_of(const gemm::Plan& plan) {
  vector::Params params{};
  EXPECT_EQ(plan.kernel().family, "vector");
  EXPECT_EQ(plan.steps.size(), 1u);
  const gemm::Step& launch = plan.steps.front();
  EXPECT_TRUE(launch.launch.shape.starts_early);
  EXPECT_EQ(launch.launch.params.size(), sizeof params);
  std::memcpy(&params, launch.launch.params.data(), sizeof params);
  return params;
}

gemm::Plan plan_of(const Problem& problem) { return gemm::plan(problem, {}, kHopper); }

TEST(VectorPlan, TheLibraryTakesItWhereMOrNIsOne) {
  for (const Types& types : {kF32Types}) {
    for (const char* layout : {"NN", "NT", "TN", "TT"}) {
      EXPECT_EQ(plan_of(problem_of(1, 4096, 4096, layout, types)).kernel().family, "vector");
      EXPECT_EQ(plan_of(problem_of(4096, 1, 4096, layout, types)).kernel().family, "vector");
      EXPECT_NE(plan_of(problem_of(64, 4096, 4096, layout, types)).kernel().family, "vector");
    }
  }
  EXPECT_NE(plan_of(problem_of(2, 30, 16, "NN")).kernel().family, "vector");
  // One block for all of k would leave the GPU idle.
  EXPECT_NE(plan_of(problem_of(8, 1, 10'000'000, "TN")).kernel().family, "vector");
}

TEST(VectorPlan, RowsAlongKAreSharedByAsManyWarpsAsFillTheGpu) {
  const gemm::Plan many = plan_of(problem_of(1, 50257, 768, "NN"));
  EXPECT_EQ(many.offers.front().decision_text(), "1571 blocks, 1 warp a row");
  const gemm::Plan few = plan_of(problem_of(1, 4096, 4096, "NN"));
  EXPECT_EQ(few.offers.front().decision_text(), "512 blocks, 4 warps a row");
  EXPECT_EQ(params_of(few).warps_along_k, 4);
  EXPECT_EQ(few.steps.front().launch.shape.grid, 512);
}

TEST(VectorPlan, RowsAlongOutputsAreLoadedInSegmentsOf64BytesAtLeast) {
  const gemm::Plan few = plan_of(problem_of(1, 4096, 4096, "NT"));
  EXPECT_EQ(few.offers.front().decision_text(), "256 blocks, 4 lanes side by side");
  EXPECT_EQ(params_of(few).is_aligned, 1);
  const gemm::Plan odd = plan_of(problem_of(1, 4095, 4096, "NT"));
  EXPECT_EQ(odd.offers.front().decision_text(), "256 blocks, 16 lanes side by side");
  EXPECT_EQ(params_of(odd).is_aligned, 0);
}

// Loads are 16 bytes wide where lines begin at multiples of 16 bytes, and addresses are such.
TEST(VectorPlan, WideLoadsWhereLinesBeginAtMultiplesOf16Bytes) {
  for (const char* layout : {"NN", "NT"}) {
    for (const int alignment : {4, 8, 16}) {
      for (std::int64_t ld = 4096; ld < 4130; ++ld) {
        Problem problem = problem_of(1, 4096, 4096, layout);
        problem.ldb = ld;
        const gemm::Plan plan =
            gemm::plan(problem, {.a = alignment, .b = alignment, .c = 16, .d = 16}, kHopper);
        EXPECT_EQ(params_of(plan).is_aligned, alignment == 16 && ld * 4 % 16 == 0)
            << layout << " " << ld << " " << alignment;
      }
    }
  }
}

// Whole and ragged, aligned or not, rows for one warp and for all of them.
TEST(VectorPlan, EveryWayThroughIsRight) {
  const std::unique_ptr<Device> small = make_virtual_device({.sms = 3});
  Device& device = test_on_cuda() ? test_device() : *small;
  struct Row {
    std::int64_t m, n, k;
    int pad;
  };
  for (const char* kernel : {"simt_f32_vector"}) {
    const KernelChoice choice = choose_kernels(kernel).front();
    for (const Row& row : {Row{1, 600, 1100, 0},
                           {1, 37, 2063, 0},
                           {331, 1, 517, 3},
                           {1, 1, 900, 0},
                           {512, 1, 40, 4},
                           {3, 70, 130, 1}}) {
      for (const char* layout : {"NN", "NT", "TN", "TT"}) {
        Problem problem = problem_of(row.m, row.n, row.k, layout, choice.kernel->types);
        problem.lda += row.pad, problem.ldb += row.pad, problem.ldd += row.pad;
        problem.alpha = -1.5, problem.beta = row.pad % 2;
        lab::VerifyOptions options;
        options.checks = !test_on_cuda();
        const lab::VerifyResult result = lab::verify(device, choice, problem, options);
        EXPECT_TRUE(result.ok()) << kernel << ' ' << row.m << 'x' << row.n << 'x' << row.k << ' '
                                 << layout << ": " << result.reason;
      }
    }
  }
}

}  // namespace
}  // namespace tessera
