// Batches of matrices at listed addresses on Hopper's tensor cores: a step before the product makes
// a tensor map for each matrix. Verified on the virtual GPU under all checks.
#include "gemm/steps/listed_maps.h"

#include <gtest/gtest.h>

#include <cstring>

#include "gemm/call/multiply.h"
#include "kernels/families/wgmma/params.h"
#include "kernels/passes/listed_maps_params.h"
#include "lab/verify/verify.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

constexpr gemm::DeviceLimits kH200{.sm = 90, .sms = 132, .l2_bytes = 50 << 20};

Problem listed(const char* kernel, std::int64_t m, std::int64_t n, std::int64_t k,
               std::int64_t count, const char* layout = "TN") {
  Problem p{.m = m, .n = n, .k = k, .types = choose_kernels(kernel).front().kernel->types};
  p.alpha = 2, p.beta = 0.5;
  set_layout(p, layout);
  p = with_default_ld(p);
  p.batch = {.kind = BatchKind::kPointers, .count = count, .alignment = 16};
  return p;
}

gemm::Plan plan_of(const char* kernel, const Problem& problem, gemm::PlanOptions options = {}) {
  options.kernel = choose_kernels(kernel).front();
  return gemm::plan(problem, {}, kH200, options);
}

void verify(const char* kernel, const Problem& problem, lab::VerifyOptions options = {}) {
  options.checks = !test_on_cuda();
  const lab::VerifyResult result =
      lab::verify(small_test_device(), choose_kernels(kernel).front(), problem, options);
  EXPECT_TRUE(result.ok()) << kernel << ' ' << layout_of(problem) << ": " << result.reason;
  EXPECT_EQ(result.integers, "full");
}

std::string refusal(const char* kernel, const Problem& problem, gemm::PlanOptions options = {}) {
  try {
    plan_of(kernel, problem, options);
  } catch (const StatusError& error) {
    return error.status().message;
  }
  return "";
}

// Each is another main loop or another store: one warpgroup, two with a tile each, four CTAs per
// SM, A from registers, FP32 outputs, an epilogue in the store.
struct Row {
  const char* kernel;
  std::string_view layouts;  // whose operands need not be repacked
};
constexpr Row kRows[] = {{"wgmma_bf16/64x64x128_s6_coop", "NN NT TN TT"},
                         {"wgmma_f16/128x128x64_s6_pp", "NN NT TN TT"},
                         {"wgmma_bf16/64x64x64_s2_x4", "NN NT TN TT"},
                         {"wgmma_bf16/128x256x64_s4_coop", "NN NT TN TT"},
                         {"wgmma_tf32/64x128x32_s8_coop", "TN"},
                         {"wgmma_tf32/128x64x32_s8_coop", "NN TN TT"},
                         {"wgmma_f16_f32/64x32x128_s6_coop", "NN NT TN TT"}};

TEST(ListedMaps, EveryLayoutByEveryKindOfKernel) {
  for (const Row& row : kRows) {
    for (const char* layout : {"NN", "NT", "TN", "TT"}) {
      if (row.layouts.find(layout) == std::string_view::npos) continue;
      Problem problem = listed(row.kernel, 72, 136, 72, 5, layout);
      verify(row.kernel, problem);
      if (layout != std::string_view("TN")) continue;
      verify(row.kernel, problem, {.in_place = true});
      problem.beta = 0;
      verify(row.kernel, problem);
      // Rows of D that tensor copies do not store, and rows with a rest of less than 16 bytes.
      problem.ldd = problem.ldc = 75;
      verify(row.kernel, problem);
      problem = listed(row.kernel, 69, 136, 72, 5, layout);
      problem.ldd = problem.ldc = 72;
      verify(row.kernel, problem);
    }
  }
}

// Several tiles of a product by a CTA, and several products; one product; more products than one
// CTA makes maps for; NaNs in an operand.
TEST(ListedMaps, ManyTilesAndManyProducts) {
  for (const char* kernel : {"wgmma_bf16/64x64x128_s6_coop", "wgmma_f16/128x128x64_s6_pp"}) {
    verify(kernel, listed(kernel, 200, 264, 136, 7));
    verify(kernel, listed(kernel, 16, 8, 8, 41));
    verify(kernel, listed(kernel, 40, 72, 200, 1));
    verify(kernel, listed(kernel, 8, 8, 8, 2 * passes::kListedMapsThreads + 44));
    lab::VerifyOptions nans;
    nans.nans = 2;
    verify(kernel, listed(kernel, 24, 24, 40, 5), nans);
  }
}

// So many products that a thread makes several maps.
TEST(ListedMaps, MoreProductsThanThreads) {
  constexpr const char* kKernel = "wgmma_bf16/64x64x64_s2_x4";
  Problem problem = listed(kKernel, 8, 8, 8, 128 * passes::kListedMapsThreads + 100);
  problem.beta = 0;
  const gemm::Plan plan = plan_of(kKernel, problem);
  EXPECT_EQ(plan.steps.front().launch.shape.grid, 128);
  const lab::VerifyResult result =
      lab::verify(small_test_device(), choose_kernels(kKernel).front(), problem, {});
  EXPECT_TRUE(result.ok()) << result.reason;
}

TEST(ListedMaps, AnEpilogueInTheStore) {
  constexpr const char* kKernel = "wgmma_bf16_fused/64x64x128_s6_coop";
  Problem problem = listed(kKernel, 72, 136, 72, 5);
  problem.epilogue = parse_epilogue("bias_row+gelu");
  EXPECT_EQ(plan_of(kKernel, problem).steps.size(), 2u);
  verify(kKernel, problem);
}

TEST(ListedMaps, AMapForEachMatrixThatTensorCopiesTake) {
  constexpr const char* kKernel = "wgmma_bf16/64x64x128_s6_coop";
  Problem problem = listed(kKernel, 72, 136, 80, 5);
  const gemm::Plan plan = plan_of(kKernel, problem);
  ASSERT_EQ(plan.steps.size(), 2u);
  const gemm::Step &maps = plan.steps[0], &multiply = plan.steps[1];
  EXPECT_EQ(name_of(maps.pass), "maps");
  EXPECT_FALSE(maps.launch.shape.starts_early);
  EXPECT_TRUE(multiply.launch.shape.starts_early);
  EXPECT_EQ(maps.maps.size(), 3u);
  for (const gemm::MapPatch& map : maps.maps) EXPECT_EQ(map.desc.rank, 2);
  EXPECT_TRUE(multiply.maps.empty());
  EXPECT_EQ(plan.workspace_bytes(), 3 * 5 * 128);

  problem.ldd = problem.ldc = 75;
  const gemm::Plan by_rows = plan_of(kKernel, problem);
  EXPECT_EQ(by_rows.steps[0].maps.size(), 2u);
  wgmma::WgmmaParams params;
  std::memcpy(&params, by_rows.steps[1].launch.params.data(), sizeof params);
  EXPECT_EQ(params.copied_columns, 0);
  EXPECT_EQ(params.products, 5);
}

// WHY by the text: the virtual GPU orders whole launches, maps included. The PTX ISA wants fences.
TEST(ListedMaps, AreReleasedAndAcquired) {
  const auto fences = [](const Kernel& kernel, const std::string& entry, std::string_view kind) {
    std::string_view text = image_of(kernel, entry).ptx.view();
    text.remove_prefix(text.find(".entry " + entry + "("));
    text = text.substr(0, text.find(".entry ", 1));
    const std::string fence = "fence.proxy.tensormap::generic." + std::string(kind) + ".gpu";
    int count = 0;
    for (std::size_t at = text.find(fence); at != text.npos; at = text.find(fence, at + 1)) ++count;
    return count;
  };
  const Kernel& maps = listed_maps_kernel();
  EXPECT_EQ(fences(maps, maps.helpers.front().entry, "release"), 1);
  for (const char* name : {"wgmma_bf16/64x64x128_s6_coop", "wgmma_tf32/128x64x32_s8_coop"}) {
    const KernelChoice choice = choose_kernels(name).front();
    for (const KernelRow& row : rows_of(*choice.kernel, choice.variant)) {
      // The maps of A, B and D of the first two tiles, and those of each tile two tiles ahead.
      EXPECT_GE(fences(*choice.kernel, row.entry, "acquire"), 9) << row.entry;
    }
  }
}

TEST(ListedMaps, RefusalsSayTheReason) {
  constexpr const char* kKernel = "wgmma_bf16/64x64x128_s6_coop";
  constexpr const char* kPairs = "wgmma_bf16/128x256x64_s4_c2x1";
  const std::string tensor_copies =
      "batch is a batch of pointers of 5, but variant 64x64x128_s6_coop of wgmma_bf16 loads its "
      "operands by tensor copies, and does not split k";
  Problem problem = listed(kKernel, 72, 136, 80, 5);
  problem.batch.alignment = 8;
  EXPECT_EQ(refusal(kKernel, problem), tensor_copies);
  EXPECT_EQ(refusal(kKernel, listed(kKernel, 72, 136, 81, 5)), tensor_copies);
  EXPECT_EQ(refusal(kKernel, listed(kKernel, 72, 136, 0, 5)),
            tensor_copies + ", nor does it take a batch without products along k");
  EXPECT_EQ(refusal(kPairs, listed(kPairs, 72, 136, 80, 5)),
            "batch is a batch of pointers of 5, but variant 128x256x64_s4_c2x1 of wgmma_bf16 loads "
            "its operands by tensor copies, and does not split k, nor does it read addresses from "
            "device memory");
  EXPECT_EQ(refusal(kKernel, listed(kKernel, 72, 136, 80, 5), {.workspace_limit = 1919}),
            "workspace_limit is 1919 bytes, but wgmma_bf16 needs at least 1920 for this problem");
}

// The maps pay for products of some length; rows that tensor copies do not take go elsewhere.
TEST(ListedMaps, TheLibraryTakesThemForLargeBatches) {
  const auto kernel_of = [](std::int64_t k, std::int64_t count) {
    Problem problem = listed("wgmma_bf16", 256, 256, k, count);
    problem.beta = 0;
    return gemm::plan(problem, {}, kH200).kernel().name;
  };
  EXPECT_EQ(kernel_of(1024, 1000), "wgmma_bf16");
  EXPECT_NE(kernel_of(1022, 1000), "wgmma_bf16");
  EXPECT_NE(kernel_of(16, 3), "wgmma_bf16");
  // A product of one short tile takes less time than its maps.
  Problem small = listed("wgmma_f16", 208, 16, 144, 1532, "NN");
  small.beta = 0;
  EXPECT_NE(gemm::plan(small, {}, kH200).kernel().name, "wgmma_f16");
}

}  // namespace
}  // namespace tessera
