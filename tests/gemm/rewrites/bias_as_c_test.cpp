// A bias as a C whose rows are one: by every kernel whose D has the type of its sums, whole tiles
// and ragged ones, a bias and a D that take no vectors, parts of k, and batches. Verified on the
// virtual GPU under all checks.
#include "gemm/rewrites/bias_as_c.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "gemm/plan/plan.h"
#include "lab/verify/verify.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

struct Product {
  const char* kernel;
  Types types;
};
const Product kProducts[] = {{"simt_f32/64x32", kF32Types},
                             {"simt_f32/128x128", kF32Types},
                             {"simt_f32_direct", kF32Types},
                             {"simt_f32_sm75/64x64", kF32Types},
                             {"simt_f32_vector", kF32Types},
                             {"12_warp_tile", kF32Types},
                             {"dmma_f64/64x32", kF64Types},
                             {"simt_f64_sm75/32x32", kF64Types},
                             {"wgmma_tf32/64x32x64_s6_coop", kTf32Types},
                             {"wgmma_bf16_f32/64x32x128_s6_coop", kBf16ToF32Types},
                             {"mma_tf32/64x64", kTf32Types},
                             {"small_f64", kF64Types}};

struct Form {
  const char* layout;
  std::int64_t m, n, k;
  int pad;
  double alpha;
  int misalign;
};
constexpr Form kForms[] = {{"NN", 64, 128, 300, 0, 1, 0}, {"TN", 37, 133, 290, 4, -1.5, 0},
                           {"NT", 65, 131, 70, 3, 2, 1},  {"TT", 1, 7, 9, 1, 1, 1},
                           {"NN", 40, 24, 0, 0, 1, 0},    {"TN", 23, 19, 8, 2, 0, 0}};

Problem problem_of(const Form& form, const Types& types, bool is_row_major = true) {
  Problem p{.m = form.m, .n = form.n, .k = form.k, .types = types, .alpha = form.alpha};
  p.order = is_row_major ? Order::kRowMajor : Order::kColumnMajor;
  if (!is_row_major) std::swap(p.m, p.n);
  set_layout(p, form.layout);
  p = with_default_ld(p);
  p.lda += form.pad, p.ldb += form.pad, p.ldd += form.pad;
  p.epilogue.bias = is_row_major ? VectorKind::kPerColumn : VectorKind::kPerRow;
  return p;
}

void verify(const Product& product, const Problem& problem, lab::VerifyOptions options,
            const std::string& what) {
  options.checks = !test_on_cuda();
  const KernelChoice choice = choose_kernels(product.kernel).front();
  const lab::VerifyResult result = lab::verify(small_test_device(), choice, problem, options);
  EXPECT_TRUE(result.ok()) << product.kernel << what << ": " << result.reason;
  EXPECT_LE(result.max_error_ratio, 1) << product.kernel << what;
  for (const std::string& entry : result.entries) {
    EXPECT_FALSE(entry.starts_with("finish__")) << product.kernel << what << ": " << entry;
  }
}

TEST(BiasAsC, ByEveryKernel) {
  for (const Product& product : kProducts) {
    const bool is_vector = product.kernel == std::string("simt_f32_vector");
    for (std::size_t i = 0; i < std::size(kForms); ++i) {
      const Form& form = kForms[i];
      if (is_vector && form.m > 1) continue;
      Problem problem = problem_of(form, product.types, i % 2 == 0);
      const std::string name = " m = " + std::to_string(form.m);
      verify(product, problem, {.misalign = form.misalign}, name);
      if (form.k > 200) {
        lab::VerifyOptions split;
        split.plan.split = gemm::Policy::kAlways;
        verify(product, problem, split, name + " split");
      }
      problem.batch = {.kind = BatchKind::kStrided,
                       .count = 3,
                       .stride_a = view_a(problem).span(),
                       .stride_b = view_b(problem).span() + 1,
                       .stride_d = view_d(problem).span() + 3};
      if (form.k < 200) verify(product, problem, {.misalign = form.misalign}, name + " batch");
    }
  }
}

// FP32 layers of GPT-2, for 64 and 231 tokens: each launch that writes D reads the bias.
TEST(BiasAsC, TakesNoLaunch) {
  constexpr struct {
    std::int64_t n, k;
  } kLayers[] = {{2304, 768}, {768, 768}, {3072, 768}, {768, 3072}, {50257, 768}};
  for (const auto& layer : kLayers) {
    for (const std::int64_t tokens : {64, 231}) {
      const Problem problem = problem_of({"NN", tokens, layer.n, layer.k, 0, 1, 0}, kF32Types);
      const gemm::Plan plan = gemm::plan(problem, {}, {.sm = 90, .sms = 132});
      for (const gemm::Candidate& one : plan.offers) {
        EXPECT_TRUE(one.decision_text().ends_with("; bias as C")) << one.decision_text();
        EXPECT_EQ(one.cost.finish, 0);
      }
      for (const gemm::Step& step : plan.steps) {
        const auto reads_bias = [](const gemm::AddressPatch& patch) {
          return patch.address.slot == gemm::slot_of(OperandId::kBias);
        };
        EXPECT_NE(step.pass, gemm::Pass::kFinish) << tokens << " x " << layer.n;
        EXPECT_EQ(std::ranges::any_of(step.addresses, reads_bias),
                  step.pass == gemm::Pass::kMultiply || step.pass == gemm::Pass::kReduce);
      }
    }
  }
}

// The bias is no matrix that goes through device memory.
TEST(BiasAsC, CostsNoTrafficOfAMatrix) {
  for (const Product& product : kProducts) {
    Problem problem = problem_of({"NN", 640, 768, 64, 0, 1, 0}, product.types);
    gemm::PlanOptions options;
    options.kernel = choose_kernels(product.kernel).front();
    const auto memory_of = [&](const Problem& one) {
      return gemm::plan(one, {}, {.sm = 90, .sms = 132}, options).offers.front().cost.memory;
    };
    const double with_bias = memory_of(problem);
    problem.epilogue = {};
    EXPECT_EQ(memory_of(problem), with_bias) << product.kernel;
  }
}

// What is no such bias is still a launch of its own.
TEST(BiasAsC, OnlyWhereEveryKernelAddsIt) {
  const Problem bias = problem_of(kForms[0], kF32Types);
  EXPECT_TRUE(gemm::is_bias_as_c(bias));
  const auto is_taken = [&](auto change) {
    Problem changed = bias;
    change(changed);
    return gemm::is_bias_as_c(changed);
  };
  EXPECT_TRUE(is_taken([](Problem& p) { p.types = kBf16ToF32Types; }));
  EXPECT_FALSE(is_taken([](Problem& p) { p.order = Order::kColumnMajor; }));
  EXPECT_FALSE(is_taken([](Problem& p) { p.beta = 1; }));
  EXPECT_FALSE(is_taken([](Problem& p) { p.types = kBf16Types; }));
  EXPECT_FALSE(is_taken([](Problem& p) { p.epilogue.activation = Activation::kRelu; }));
  EXPECT_FALSE(is_taken([](Problem& p) { p.epilogue.scale = VectorKind::kPerColumn; }));
  EXPECT_FALSE(is_taken([](Problem& p) { p.epilogue = {}; }));
  EXPECT_FALSE(is_taken([](Problem& p) { p.batch.kind = BatchKind::kPointers; }));
}

}  // namespace
}  // namespace tessera
