// How a product with a few vectors is planned: one pass over the matrix, shared out so that all SMs
// have loads on their way. What is planned is verified on the virtual GPU under all checks.
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
  for (const Types& types : {kF32Types, kF64Types, kBf16Types, kF16Types, kTf32Types}) {
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

// Column-major TN: both operands lie along k.
TEST(VectorPlan, FewVectorsTakeTheSmallestKernelThatHoldsThemWhereBothOperandsLieAlongK) {
  const auto variant = [](std::int64_t vectors, const char* layout, const Types& types) {
    const gemm::Plan plan = plan_of(problem_of(4096, vectors, 4096, layout, types));
    return plan.kernel().family == "vector" ? plan.row().variant : std::string();
  };
  EXPECT_EQ(variant(1, "TN", kF32Types), "8_warps");
  EXPECT_EQ(variant(2, "TN", kF32Types), "8_warps_x2");
  EXPECT_EQ(variant(3, "TN", kF32Types), "8_warps_x4");
  EXPECT_EQ(variant(8, "TN", kF32Types), "8_warps_x8");
  EXPECT_EQ(variant(3, "TN", kF64Types), "8_warps_x8");
  EXPECT_EQ(variant(8, "TN", kF64Types), "8_warps_x8");
  EXPECT_EQ(variant(9, "TN", kF64Types), "8_warps_x16");
  EXPECT_EQ(variant(17, "TN", kF64Types), "");
  for (const char* other : {"NN", "NT", "TT"}) {
    for (const Types& types : {kF32Types, kF64Types, kBf16Types}) {
      EXPECT_EQ(variant(3, other, types), "") << other;
    }
  }
}

// HW: on an H100 tiles take 98.8 and 32.8 us of these, and the vector kernel 116.6 and 36.1
// (results/variants/h100_vectors.json.xz, seed 77201).
TEST(VectorPlan, Tf32TakesTilesWhereAnH100IsFasterByThem) {
  gemm::DeviceLimits h100 = kHopper;
  h100.costs = &gemm::kH100Costs;
  for (const auto& [vectors, size] : {std::pair{6, 8192}, {8, 4096}}) {
    const Problem problem = problem_of(size, vectors, size, "TN", kTf32Types);
    EXPECT_NE(gemm::plan(problem, {}, h100).kernel().family, "vector") << vectors;
  }
  EXPECT_EQ(gemm::plan(problem_of(1280, 1, 1280, "TN", kTf32Types), {}, h100).kernel().family,
            "vector");
}

TEST(VectorPlan, RowsAlongKAreSharedByAsManyWarpsAsFillTheGpu) {
  const gemm::Plan many = plan_of(problem_of(1, 50257, 768, "NN"));
  EXPECT_EQ(many.offers.front().decision_text(), "1571 blocks, 1 warp a row");
  const gemm::Plan few = plan_of(problem_of(1, 4096, 4096, "NN"));
  EXPECT_EQ(few.offers.front().decision_text(), "256 blocks, 2 warps a row");
  EXPECT_EQ(params_of(few).warps_along_k, 2);
  EXPECT_EQ(few.steps.front().launch.shape.grid, 256);
}

TEST(VectorPlan, RowsAlongOutputsAreLoadedInSegmentsOf64BytesAtLeast) {
  const gemm::Plan few = plan_of(problem_of(1, 4096, 4096, "NT"));
  EXPECT_EQ(few.offers.front().decision_text(), "256 blocks, 4 lanes side by side");
  EXPECT_EQ(params_of(few).width, 4);
  const gemm::Plan odd = plan_of(problem_of(1, 4095, 4096, "NT"));
  EXPECT_EQ(odd.offers.front().decision_text(), "256 blocks, 16 lanes side by side");
  EXPECT_EQ(params_of(odd).width, 1);
}

// Loads are as wide as lines and addresses allow.
TEST(VectorPlan, LoadsAreAsWideAsRowsAndAddressesAllow) {
  const auto width = [](const Types& types, const char* layout, int alignment, std::int64_t ld) {
    Problem problem = problem_of(1, 4096, 4096, layout, types);
    problem.ldb = ld;
    const KernelChoice kernel =
        choose_kernels(types == kF32Types ? "simt_f32_vector" : "vector_bf16").front();
    return params_of(gemm::plan(problem, {.a = alignment, .b = alignment, .c = 16, .d = 16},
                                kHopper, {.kernel = kernel}))
        .width;
  };
  for (const int alignment : {4, 8, 16}) {
    for (std::int64_t ld = 4096; ld < 4130; ++ld) {
      const int f32 = ld % 4 == 0 && alignment == 16 ? 4 : ld % 2 == 0 && alignment >= 8 ? 2 : 1;
      EXPECT_EQ(width(kF32Types, "NN", alignment, ld), f32) << ld << ' ' << alignment;
      EXPECT_EQ(width(kF32Types, "NT", alignment, ld), f32 == 4 ? 4 : 1) << ld << ' ' << alignment;
      const int bf16 = ld % 8 == 0 && alignment == 16  ? 8
                       : ld % 4 == 0 && alignment >= 8 ? 4
                       : ld % 2 == 0                   ? 2
                                                       : 1;
      EXPECT_EQ(width(kBf16Types, "NN", alignment, ld), bf16) << ld << ' ' << alignment;
    }
  }
}

// Whole and ragged, aligned or not, rows for one warp and for all of them, places for vectors full
// and empty.
TEST(VectorPlan, EveryWayThroughIsRight) {
  const std::unique_ptr<Device> small = make_virtual_device({.sms = 3});
  Device& device = test_on_cuda() ? test_device() : *small;
  struct Row {
    std::int64_t m, n, k;
    int pad;
  };
  for (const KernelChoice& choice : choose_kernels("simt_f32_vector/all,vector_*/all")) {
    for (const Row& row : {Row{1, 600, 1100, 0},
                           {1, 37, 2063, 0},
                           {331, 1, 517, 3},
                           {1, 1, 900, 0},
                           {512, 1, 40, 4},
                           {3, 70, 130, 1},
                           {16, 150, 264, 2},
                           {90, 7, 1000, 4},
                           {33, 13, 91, 8}}) {
      for (const char* layout : {"NN", "NT", "TN", "TT"}) {
        Problem problem = problem_of(row.m, row.n, row.k, layout, choice.kernel->types);
        problem.lda += row.pad, problem.ldb += row.pad, problem.ldd += row.pad;
        problem.alpha = -1.5, problem.beta = row.pad % 2;
        lab::VerifyOptions options;
        options.checks = !test_on_cuda();
        const lab::VerifyResult result = lab::verify(device, choice, problem, options);
        EXPECT_TRUE(result.ok()) << choice.kernel->name << '/' << choice.variant << ' ' << row.m
                                 << 'x' << row.n << 'x' << row.k << ' ' << layout << ": "
                                 << result.reason;
      }
    }
  }
}

// Each number of warps that may share rows, of rows that fill them or do not.
TEST(VectorPlan, AnyNumberOfWarpsMayShareRows) {
  const std::unique_ptr<Device> device = make_virtual_device({.sms = 3});
  for (const char* kernel : {"simt_f32_vector/8_warps_x4", "vector_bf16/8_warps_x8",
                             "vector_f64/8_warps_x16", "vector_f64/8_warps_x8"}) {
    for (const int warps : {1, 2, 4, 8}) {
      const KernelChoice choice =
          choose_kernels(std::string(kernel) + ":warps=" + std::to_string(warps)).front();
      for (const std::int64_t k : {5, 1030}) {
        const Problem problem = problem_of(45, 6, k, "TN", choice.kernel->types);
        lab::VerifyOptions options;
        options.checks = true;
        const lab::VerifyResult result = lab::verify(*device, choice, problem, options);
        EXPECT_TRUE(result.ok()) << kernel << ' ' << warps << ' ' << k << ": " << result.reason;
      }
    }
  }
}

}  // namespace
}  // namespace tessera
