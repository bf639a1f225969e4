// Scale, bias and activation after a product, by every family: D in the type of the sums is
// finished where it is, any other D from sums in the workspace. Verified on the virtual GPU under
// all checks.
#include <gtest/gtest.h>

#include <vector>

#include "gemm/call/arguments.h"
#include "gemm/rewrites/bias_as_c.h"
#include "lab/verify/verify.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

struct Product {
  const char* kernel;  // that multiplies; it keeps sums
  Types types;         // of the problem
};
const Product kProducts[] = {{"simt_f32/64x32", kF32Types},
                             {"simt_f32_sm75/64x64", kF32Types},
                             {"simt_f32_vector", kF32Types},
                             {"12_warp_tile", kF32Types},
                             {"dmma_f64/64x32", kF64Types},
                             {"simt_f64_sm75/32x32", kF64Types},
                             {"wgmma_tf32/64x32x64_s6_coop", kTf32Types},
                             {"wgmma_bf16_f32/64x32x128_s6_coop", kBf16Types},
                             {"wgmma_bf16_f32/64x32x128_s6_coop", kBf16ToF32Types},
                             {"wgmma_f16_f32/64x32x128_s6_coop", kF16Types},
                             {"mma_bf16_f32/64x64", kBf16Types},
                             {"mma_f16_f32/64x64", kF16Types},
                             {"mma_tf32/64x64", kTf32Types},
                             {"simt_bf16_f32_sm75", kBf16Types},
                             {"simt_f16_f32_sm75", kF16Types}};

constexpr const char* kEpilogues[] = {
    "bias_row",         "bias_col", "relu", "scale_row+bias_col+relu", "scale_col+bias_row+gelu",
    "bias_col+gelu_erf"};

struct Form {
  const char* layout;
  Order order;
  std::int64_t m, n, k;
  int pad;
  double alpha, beta;
  int misalign;
  bool in_place;
};
constexpr Form kForms[] = {{"NN", Order::kColumnMajor, 64, 32, 64, 0, 1, 0, 0, false},
                           {"NT", Order::kRowMajor, 65, 33, 70, 3, -1.5, 0.5, 1, false},
                           {"TN", Order::kColumnMajor, 37, 131, 129, 4, 2, 1, 0, true},
                           {"TT", Order::kRowMajor, 1, 7, 9, 1, 1, -1, 1, true},
                           {"NN", Order::kRowMajor, 40, 24, 0, 0, 1, 2, 0, false},
                           {"TN", Order::kColumnMajor, 19, 23, 8, 2, 0, 0, 0, false}};

Problem problem_of(const Form& form, const Types& types, const char* epilogue) {
  Problem p{.m = form.m,
            .n = form.n,
            .k = form.k,
            .types = types,
            .order = form.order,
            .alpha = form.alpha,
            .beta = form.beta};
  set_layout(p, form.layout);
  p = with_default_ld(p);
  p.lda += form.pad, p.ldb += form.pad, p.ldd += form.pad;
  p.ldc += form.in_place ? form.pad : 3 * form.pad;
  p.epilogue = parse_epilogue(epilogue);
  return p;
}

void verify(const Product& product, const Problem& problem, lab::VerifyOptions options,
            const std::string& name) {
  options.checks = !test_on_cuda();
  const KernelChoice choice = choose_kernels(product.kernel).front();
  const lab::VerifyResult result = lab::verify(small_test_device(), choice, problem, options);
  EXPECT_TRUE(result.ok()) << name << ": " << result.reason;
  EXPECT_EQ(result.integers, "full");
  EXPECT_LE(result.max_error_ratio, 1) << name;
  if (result.entries.empty()) return;
  const bool is_applied_later =
      !choice.kernel->applies_epilogue && !gemm::is_bias_as_c(with_default_ld(problem));
  EXPECT_EQ(result.entries.back().starts_with("finish__"), is_applied_later) << name;
}

TEST(Epilogue, EveryFamilyInEveryForm) {
  int at = 0;
  for (const Product& product : kProducts) {
    for (const Form& form : kForms) {
      // Each form of a product takes two of the epilogues; all products together take all.
      for (int i = 0; i < 2; ++i, ++at) {
        const char* epilogue = kEpilogues[(at + at / 12) % std::size(kEpilogues)];
        const Problem problem = problem_of(form, product.types, epilogue);
        if (product.kernel == std::string("simt_f32_vector") && problem.m > 8) continue;
        verify(product, problem, {.in_place = form.in_place, .misalign = form.misalign},
               std::string(product.kernel) + " " + name_of(product.types) + " " + form.layout +
                   " m = " + std::to_string(form.m) + " " + epilogue);
      }
    }
  }
}

// Kernels that apply it in their store: tiles inside of D and across its edges, by tensor copies
// and row by row, aligned and repacked, split among the CTAs of a small GPU.
TEST(Epilogue, InTheStoreOfATile) {
  constexpr const char* kFused[] = {"bias_row",          "bias_col",      "relu",
                                    "bias_row+relu",     "bias_col+relu", "bias_col+gelu",
                                    "bias_row+gelu_erf", "gelu_erf",      "gelu"};
  constexpr Form kTiles[] = {{"NN", Order::kColumnMajor, 128, 256, 128, 0, 1, 0, 0, false},
                             {"NT", Order::kRowMajor, 136, 264, 72, 0, 0.5, 1, 0, true},
                             {"TN", Order::kRowMajor, 261, 131, 65, 3, -1.5, 0.5, 1, false},
                             {"TT", Order::kColumnMajor, 70, 301, 200, 8, 2, -1, 0, false},
                             {"TN", Order::kColumnMajor, 5, 3, 8, 1, 1, 1, 0, true},
                             {"NN", Order::kRowMajor, 40, 24, 0, 0, 1, 2, 0, false}};
  int at = 0;
  for (const char* kernel :
       {"wgmma_bf16_fused/128x256x64_s4_coop", "wgmma_bf16_fused/128x192x64_s5_pp",
        "wgmma_bf16_fused/64x64x128_s6_coop", "wgmma_f16_fused/128x256x64_s4_coop",
        "wgmma_f16_fused/128x192x64_s5_pp", "wgmma_f16_fused/64x64x128_s6_coop",
        "wgmma_bf16_fused/64x128x64_s8_coop", "wgmma_f16_fused/64x128x64_s8_coop"}) {
    const Product product{kernel, choose_kernels(kernel).front().kernel->types};
    for (const Form& form : kTiles) {
      const char* epilogue = kFused[at++ % std::size(kFused)];
      const Problem problem = problem_of(form, product.types, epilogue);
      verify(product, problem, {.in_place = form.in_place, .misalign = form.misalign},
             std::string(kernel) + " " + form.layout + " m = " + std::to_string(form.m) + " " +
                 epilogue);
      // A plain problem, too, for who names the kernel.
      if (form.m == 261) {
        verify(product, problem_of(form, product.types, "none"), {}, kernel);
      }
    }
  }
}

// C is read and a bias loaded by pairs only where all of a panel is there, at multiples of four
// bytes: a whole tile with rows of odd length, and one at an odd element, inside and across the
// edge.
TEST(Epilogue, InTheStoreOfATileWithAResidual) {
  constexpr Form kResiduals[] = {{"TN", Order::kColumnMajor, 256, 128, 64, 0, 1, 1, 0, true},
                                 {"TN", Order::kColumnMajor, 256, 128, 64, 1, -1, 0.5, 0, false},
                                 {"NN", Order::kRowMajor, 128, 256, 64, 0, 1, -1, 1, true},
                                 {"NT", Order::kRowMajor, 130, 258, 72, 8, 2, 1, 0, true}};
  for (const char* kernel :
       {"wgmma_bf16_fused/128x256x64_s4_coop", "wgmma_f16_fused/128x192x64_s5_pp"}) {
    const Product product{kernel, choose_kernels(kernel).front().kernel->types};
    for (const Form& form : kResiduals) {
      for (const char* epilogue : {"bias_row+relu", "bias_col+gelu"}) {
        verify(product, problem_of(form, product.types, epilogue),
               {.in_place = form.in_place, .misalign = form.misalign},
               std::string(kernel) + " " + form.layout + " m = " + std::to_string(form.m) + " " +
                   epilogue);
      }
    }
  }
}

TEST(Epilogue, EveryActivationInEveryFamily) {
  std::vector<Product> products(std::begin(kProducts), std::end(kProducts));
  for (const char* kernel :
       {"wgmma_bf16_fused/128x256x64_s4_coop", "wgmma_bf16_fused/64x64x128_s6_coop",
        "wgmma_f16_fused/128x192x64_s5_pp", "wgmma_f16_fused/64x64x128_s6_coop"}) {
    products.push_back({kernel, choose_kernels(kernel).front().kernel->types});
  }
  Form form = kForms[1];
  form.m = 5;
  for (const ActivationRow& row : kActivations) {
    if (row.activation == Activation::kIdentity) continue;
    for (const Product& product : products) {
      verify(product, problem_of(form, product.types, row.name), {.misalign = form.misalign},
             std::string(product.kernel) + " " + row.name);
    }
  }
}

TEST(Epilogue, InTheStoreOfABatch) {
  for (const char* kernel :
       {"wgmma_bf16_fused/64x64x128_s6_coop", "wgmma_f16_fused/128x192x64_s5_pp"}) {
    const Product product{kernel, choose_kernels(kernel).front().kernel->types};
    Problem batch = problem_of(kForms[0], product.types, "bias_row+gelu");
    batch.batch = {.kind = BatchKind::kStrided,
                   .count = 5,
                   .stride_a = batch.m * batch.k,
                   .stride_b = batch.k * batch.n,
                   .stride_d = batch.m * batch.n};
    verify(product, batch, {}, kernel);
  }
}

TEST(Epilogue, NansReachD) {
  for (const char* epilogue : {"relu", "bias_row+gelu", "gelu_erf", "silu"}) {
    for (const Product& product : {kProducts[1], kProducts[7], kProducts[4],
                                   Product{"wgmma_bf16_fused/128x192x64_s5_pp", kBf16Types},
                                   Product{"wgmma_f16_fused/64x64x128_s6_coop", kF16Types}}) {
      verify(product, problem_of(kForms[1], product.types, epilogue), {.nans = 3},
             std::string(product.kernel) + " " + epilogue);
    }
  }
}

TEST(Epilogue, SplitProductsAndBatches) {
  for (const Product& product : kProducts) {
    Form form = kForms[2];
    form.k = 300;
    lab::VerifyOptions options;
    options.plan.split = gemm::Policy::kAlways;
    const std::string name = std::string(product.kernel) + " " + name_of(product.types);
    const bool is_vector = product.kernel == std::string("simt_f32_vector");
    if (!is_vector) {
      verify(product, problem_of(form, product.types, "scale_col+bias_row+relu"), options,
             name + " split");
    }
    Problem batch = problem_of(kForms[is_vector ? 3 : 1], product.types, "bias_col+gelu");
    batch.batch = {.kind = BatchKind::kStrided,
                   .count = 4,
                   .stride_a = view_a(batch).span() + 3,
                   .stride_b = view_b(batch).span(),
                   .stride_c = view_c(batch).span() + 1,
                   .stride_d = view_d(batch).span() + 1};
    verify(product, batch, {}, name + " batch");
  }
}

// The sums in the workspace are a batch, too: the kernel multiplies all products in one launch.
TEST(Epilogue, TheSumsOfABatchLieApart) {
  for (const Product& product : {kProducts[7], kProducts[9], kProducts[4]}) {
    Problem batch = problem_of(kForms[0], product.types, "bias_col+relu");
    batch.batch = {.kind = BatchKind::kStrided,
                   .count = 5,
                   .stride_a = batch.m * batch.k,
                   .stride_b = batch.k * batch.n,
                   .stride_d = batch.m * batch.n};
    gemm::PlanOptions options;
    options.kernel = choose_kernels(product.kernel).front();
    EXPECT_EQ(gemm::plan(batch, {}, {.sm = 90, .sms = 3}, options).rounds(), 1);
    verify(product, batch, {}, product.kernel);
  }
}

TEST(Epilogue, BatchesOfPointersWhereDHoldsTheSums) {
  for (const char* kernel : {"simt_f32_sm75/64x64", "dmma_f64/64x32"}) {
    const Product product{kernel, choose_kernels(kernel).front().kernel->types};
    Problem batch = problem_of(kForms[1], product.types, "scale_row+bias_col+relu");
    batch.batch = {.kind = BatchKind::kPointers, .count = 3, .alignment = 8};
    verify(product, batch, {}, kernel);
  }
}

gemm::Plan plan_of(const char* kernel, const Problem& problem, gemm::PlanOptions options = {}) {
  if (kernel) options.kernel = choose_kernels(kernel).front();
  return gemm::plan(problem, {}, {.sm = 90, .sms = 132}, options);
}

std::string refusal(const char* kernel, const Problem& problem, gemm::PlanOptions options = {}) {
  try {
    plan_of(kernel, problem, options);
  } catch (const StatusError& error) {
    return error.what();
  }
  return "";
}

constexpr ElementType kFloats[] = {ElementType::kF64, ElementType::kF32, ElementType::kBf16,
                                   ElementType::kF16};

// C is read in its own type, whatever the type of D.
TEST(Epilogue, EveryPairOfTypesOfCAndD) {
  constexpr Product kSums[] = {{"mma_bf16_f32/64x64", kBf16Types},
                               {"mma_f16_f32/64x64", kF16Types},
                               {"simt_f32/64x32", kF32Types},
                               {"mma_tf32/64x64", kTf32Types},
                               {"dmma_f64/64x32", kF64Types}};
  int accepted = 0;
  for (Product product : kSums) {
    const ElementType sum = facts_of(product.types.compute).sum;
    for (int pair = 0; pair < 16; ++pair) {
      product.types.c = kFloats[pair / 4];
      product.types.d = kFloats[pair % 4];
      const Form& form = kForms[accepted % 2 == 0 ? 1 : 3];  // beta is not 0, rows with gaps
      const Problem problem = problem_of(form, product.types, "scale_row+bias_col+relu");
      const std::string name = std::string(product.kernel) + " " + name_of(product.types);
      if (facts_of(types_for(product.types.d).compute).sum == sum) {
        verify(product, problem, {.misalign = form.misalign}, name);
        ++accepted;
        continue;
      }
      EXPECT_EQ(refusal(product.kernel, problem),
                "no launch applies an epilogue to sums in " + std::string(name_of(sum)) +
                    " and stores D in " + std::string(name_of(product.types.d)))
          << name;
    }
  }
  EXPECT_EQ(accepted, 4 * (4 * 3 + 1));
}

TEST(Epilogue, EveryTypeHasAKernelThatTheLibraryChooses) {
  for (const Types& types :
       {kF64Types, kF32Types, kTf32Types, kF16Types, kBf16Types, kF16ToF32Types, kBf16ToF32Types}) {
    for (const int sm : {75, 80, 90, 120}) {
      Problem problem = problem_of(kForms[0], types, "scale_row+bias_col+gelu");
      const gemm::Plan plan = gemm::plan(problem, {}, {.sm = sm, .sms = 132});
      EXPECT_EQ(plan.problem.epilogue, problem.epilogue);
      EXPECT_FALSE(is_rung(plan.kernel()));
    }
  }
}

TEST(Epilogue, LargeProductsOf16BitsApplyItInTheStore) {
  for (const Types& types : {kBf16Types, kF16Types}) {
    Form large = kForms[0];
    large.m = large.n = large.k = 4096;
    const gemm::Plan fused = plan_of(nullptr, problem_of(large, types, "bias_row+gelu"));
    EXPECT_TRUE(fused.kernel().applies_epilogue) << fused.kernel().name;
    EXPECT_EQ(fused.steps.size(), 1u);
    EXPECT_EQ(fused.workspace_bytes(), 0);
    const gemm::Plan later = plan_of(nullptr, problem_of(large, types, "scale_row+gelu"));
    EXPECT_FALSE(later.kernel().applies_epilogue);
    EXPECT_EQ(later.workspace_bytes(), 4096 * 4096 * 4);
    EXPECT_EQ(later.steps.size(), 2u);
    EXPECT_TRUE(later.offers.front().decision_text().ends_with("; epilogue in a later launch"));
    EXPECT_FALSE(plan_of(nullptr, problem_of(large, types, "none")).kernel().applies_epilogue);
    large.n = 206;  // few tiles: 128x128 and larger ones leave half of the GPU idle
    EXPECT_EQ(plan_of(nullptr, problem_of(large, types, "bias_row")).offers.front().row->variant,
              "64x128x64_s8_coop");
  }
}

TEST(Epilogue, APlainProductHasNoMoreLaunchesThanBefore) {
  for (const Types& types : {kF32Types, kBf16Types, kF64Types}) {
    Problem problem = problem_of(kForms[0], types, "none");
    const gemm::Plan plan = plan_of(nullptr, problem);
    for (const gemm::Step& planned : plan.steps) {
      EXPECT_FALSE(planned.launch.entry.starts_with("finish__")) << planned.launch.entry;
    }
    EXPECT_EQ(plan.offers.front().cost.finish, 0);
  }
}

TEST(Epilogue, WhatIsNotPossibleIsRefusedByName) {
  Problem problem = problem_of(kForms[0], kBf16Types, "bias_col+relu");
  EXPECT_EQ(refusal("wgmma_bf16", problem),
            "type is bf16 with an epilogue (bias per column, relu), whose sums are kept by kernels "
            "of bf16,bf16,f32,f32,f32, but wgmma_bf16 multiplies bf16");
  problem.batch = {.kind = BatchKind::kPointers, .count = 2, .alignment = 8};
  EXPECT_EQ(refusal(nullptr, problem),
            "epilogue is bias per column, relu, and sums of D in bf16 are in the workspace, but no "
            "kernel reads a batch of pointers of 2 and writes these");
  problem.batch = {};
  EXPECT_EQ(refusal(nullptr, problem, {.workspace_limit = 0}), "") << "in the store of a tile";
  problem.epilogue.scale = VectorKind::kPerRow;
  EXPECT_TRUE(refusal(nullptr, problem, {.workspace_limit = 0})
                  .starts_with("workspace_limit is 0 bytes, but "));
  EXPECT_EQ(
      refusal("wgmma_bf16_fused", problem),
      "epilogue is scale per row, bias per column, relu, but wgmma_bf16_fused applies a bias and "
      "an activation, and no scale");
  problem.epilogue.scale = VectorKind::kNone;
  problem.types = kS8Types;
  EXPECT_EQ(refusal(nullptr, problem),
            "no kernel takes an epilogue (bias per column, relu) of sums in s32 yet");
  problem.types = kE4m3Types;
  EXPECT_EQ(refusal(nullptr, problem), "no kernel multiplies e4m3 x e4m3 -> bf16 with compute f32");
}

TEST(Epilogue, AnArgumentThatIsMissingOrMisalignedIsRefusedByName) {
  const Problem problem = problem_of(kForms[0], kF32Types, "scale_row+bias_col");
  const gemm::Plan plan = plan_of("simt_f32", problem);
  gemm::Arguments in{{4096, 1 << 20, 0, 1 << 24, 1 << 28, 1 << 29}, 1, 0, 1 << 30, 1 << 28};
  EXPECT_TRUE(check(plan, in).ok()) << check(plan, in).message;
  const auto refused = [&](auto change, const char* message) {
    gemm::Arguments changed = in;
    change(changed.operands);
    EXPECT_EQ(check(plan, changed).message, message);
  };
  refused([](Operands& at) { at.scale = 0; },
          "address of scale is 0, but the epilogue has a scale");
  refused([](Operands& at) { at.bias = 0; }, "address of bias is 0, but the epilogue has a bias");
  refused([](Operands& at) { at.bias += 2; },
          "address of bias is 536870914, but must be a multiple of its element's bytes, 4");
  refused([](Operands& at) { at.scale += 1; },
          "address of scale is 268435457, but must be a multiple of its element's bytes, 4");
  refused([](Operands& at) { at.bias = at.d + 4; },
          "D shares an element with the bias of the epilogue, but the output must not overlap an "
          "input that is read");
  refused([](Operands& at) { at.scale = at.d - 4; },
          "D shares an element with the scale of the epilogue, but the output must not overlap an "
          "input that is read");
}

}  // namespace
}  // namespace tessera
