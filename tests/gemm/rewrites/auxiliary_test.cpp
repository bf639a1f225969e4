// The auxiliary output X, D before its activation: written by the launch that finishes D, by every
// family, in every order, in batches and in parts of D. Verified on the virtual GPU under all
// checks: X has a reference of its own, and nothing beside it may change.
#include <gtest/gtest.h>

#include <vector>

#include "gemm/call/arguments.h"
#include "gemm/host/cpu.h"
#include "lab/verify/verify.h"
#include "tests/support/kernel_choice.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

Problem problem_of(const Types& types, const char* layout, Order order, std::int64_t m,
                   std::int64_t n, std::int64_t k, const char* epilogue) {
  Problem p{.m = m, .n = n, .k = k, .types = types, .order = order};
  set_layout(p, layout);
  p.epilogue = parse_epilogue(epilogue);
  return with_default_ld(p);
}

void verify(const char* kernel, const Problem& problem, lab::VerifyOptions options = {}) {
  options.checks = !test_on_cuda();
  const KernelChoice choice = choose_kernels(kernel).front();
  const lab::VerifyResult result = lab::verify(small_test_device(), choice, problem, options);
  EXPECT_TRUE(result.ok()) << kernel << ": " << result.reason;
  if (result.entries.empty()) return;
  EXPECT_TRUE(result.entries.back().ends_with("_x")) << result.entries.back();
}

void verify_fused(const char* kernel, const Problem& problem, lab::VerifyOptions options = {}) {
  options.checks = !test_on_cuda();
  const KernelChoice choice = choose_kernels(kernel).front();
  const lab::VerifyResult result = lab::verify(small_test_device(), choice, problem, options);
  EXPECT_TRUE(result.ok()) << kernel << " " << layout_of(problem) << ": " << result.reason;
  EXPECT_TRUE(result.entries.back().starts_with("wgmma_")) << result.entries.back();
}

gemm::Plan plan_of(const Problem& problem, const gemm::PlanOptions& options = {}) {
  return gemm::plan(problem, {}, {.sm = 90, .sms = 132}, options);
}

std::string refusal(const Problem& problem, const gemm::PlanOptions& options = {}) {
  if (const Status status = check(problem); !status.ok()) return status.message;
  try {
    plan_of(problem, options);
  } catch (const StatusError& error) {
    return error.status().message;
  }
  return "";
}

struct Family {
  const char* kernel;
  Types types;
};
constexpr Family kFamilies[] = {{"simt_f32/64x32", kF32Types},
                                {"simt_f32_sm75/64x64", kF32Types},
                                {"12_warp_tile", kF32Types},
                                {"dmma_f64/64x32", kF64Types},
                                {"wgmma_tf32/64x32x64_s6_coop", kTf32Types},
                                {"wgmma_bf16_f32/64x32x128_s6_coop", kBf16Types},
                                {"wgmma_bf16_f32/64x32x128_s6_coop", kBf16ToF32Types},
                                {"mma_f16_f32/64x64", kF16Types}};

TEST(Auxiliary, EveryFamilyWritesItInEveryOrder) {
  constexpr const char* kEpilogues[] = {"relu+aux", "bias_row+gelu+aux", "aux",
                                        "scale_col+bias_col+silu+aux"};
  int at = 0;
  for (const Family& family : kFamilies) {
    for (const Order order : {Order::kRowMajor, Order::kColumnMajor}) {
      Problem p =
          problem_of(family.types, at % 4 < 2 ? "NT" : "TN", order, 65, 37, 70, kEpilogues[at % 4]);
      ++at;
      p.beta = at % 3 - 1;
      p.ldd += 3, p.ldc += 3, p.ldx += at % 5;
      verify(family.kernel, p, {.in_place = at % 2 == 0, .misalign = at % 3});
    }
  }
}

TEST(Auxiliary, WhereNothingIsMultiplied) {
  for (const Types& types : {kF32Types, kBf16Types}) {
    Problem p = problem_of(types, "NN", Order::kRowMajor, 33, 20, 0, "bias_col+relu+aux");
    verify(types == kF32Types ? "simt_f32" : "mma_bf16_f32", p);
    p.k = 8, p.lda = p.ldb = 24, p.alpha = 0, p.beta = 2;
    verify(types == kF32Types ? "simt_f32" : "mma_bf16_f32", p);
  }
}

TEST(Auxiliary, OfABatchInOneLaunchAndOneAfterTheOther) {
  for (const char* kernel : {"simt_f32_direct/128x128", "simt_f32/64x32"}) {
    Problem p = problem_of(kF32Types, "NN", Order::kColumnMajor, 40, 24, 32, "bias_row+silu+aux");
    p.ldx += 2;
    p.batch = {.kind = BatchKind::kStrided, .count = 5};
    p.batch.stride_a = view_a(p).span(), p.batch.stride_b = view_b(p).span();
    p.batch.stride_c = p.batch.stride_d = view_d(p).span() + 4;
    p.batch.stride_x = view_x(p).span() + 9;
    verify(kernel, p);
  }
}

// A batch whose products continue each other is one product, but X has its own places.
TEST(Auxiliary, OfABatchThatWouldBeFolded) {
  Problem p = problem_of(kF32Types, "NN", Order::kRowMajor, 16, 24, 32, "relu+aux");
  p.batch = {.kind = BatchKind::kStrided, .count = 4, .stride_a = 16 * 32, .stride_d = 16 * 24};
  p.batch.stride_x = 16 * 24 + 8;
  verify("simt_f32_direct/128x128", p);
}

TEST(Auxiliary, OfPartsOfDWhereTheWorkspaceIsSmall) {
  const Problem p =
      problem_of(kBf16Types, "TN", Order::kColumnMajor, 520, 260, 64, "scale_row+gelu+aux");
  const gemm::Plan plan = plan_of(p, {.workspace_limit = 200 << 10});
  EXPECT_GT(plan.steps.size(), 3u) << "else D is not in parts";
  int written = 0;
  for (const gemm::Step& step : plan.steps) {
    for (const gemm::AddressPatch& patch : step.addresses) {
      if (patch.address.slot != gemm::slot_of(OperandId::kX)) continue;
      EXPECT_EQ(patch.use, Use::kWritten);
      EXPECT_EQ(patch.address.delta % 2, 0);
      ++written;
    }
  }
  EXPECT_GE(written, 2);
  lab::VerifyOptions options;
  options.plan.workspace_limit = 200 << 10;
  options.checks = !test_on_cuda();
  const KernelChoice choice{plan.offers.front().kernel, plan.offers.front().row->variant};
  const lab::VerifyResult result = lab::verify(small_test_device(), choice, p, options);
  EXPECT_TRUE(result.ok()) << result.reason;
}

// Tiles inside of D and across its edges, by tensor copies and row by row, with D in the place of
// C, X aligned and not, several tiles per CTA, and a batch.
TEST(Auxiliary, InTheStoreOfATile) {
  int at = 0;
  for (const char* kernel :
       {"wgmma_bf16_fused_x/64x128x64_s8_coop", "wgmma_bf16_fused_x/128x256x64_s4_coop",
        "wgmma_f16_fused_x/64x128x64_s8_coop"}) {
    const Types& types = kernel[6] == 'b' ? kBf16Types : kF16Types;
    for (const char* layout : {"NN", "NT", "TN", "TT"}) {
      for (const bool is_whole : {true, false}) {
        const std::int64_t m = is_whole ? 256 : 133, n = is_whole ? 512 : 271;
        Problem p =
            problem_of(types, layout, at % 3 == 0 ? Order::kColumnMajor : Order::kRowMajor, m, n,
                       is_whole ? 128 : 72, at % 2 ? "bias_col+gelu+aux" : "bias_row+relu+aux");
        p.ldx += is_whole ? 0 : at % 9;
        p.alpha = at % 2 ? -0.5 : 1, p.beta = at % 3 - 1;
        verify_fused(kernel, p, {.in_place = at % 2 == 0, .misalign = is_whole ? 0 : at % 3});
        ++at;
      }
    }
  }
}

TEST(Auxiliary, InTheStoreOfATileWhereNothingIsMultipliedAndInABatch) {
  Problem p = problem_of(kBf16Types, "NN", Order::kRowMajor, 70, 40, 0, "bias_col+silu+aux");
  p.ldx = 45, p.beta = 2;
  verify_fused("wgmma_bf16_fused_x/64x128x64_s8_coop", p, {.in_place = true});
  p = problem_of(kBf16Types, "TN", Order::kRowMajor, 72, 136, 64, "bias_row+relu+aux");
  p.batch = {.kind = BatchKind::kStrided, .count = 3};
  p.batch.stride_a = view_a(p).span(), p.batch.stride_b = view_b(p).span();
  p.batch.stride_c = p.batch.stride_d = view_d(p).span();
  p.batch.stride_x = view_x(p).span() + 5;
  verify_fused("wgmma_bf16_fused_x/64x128x64_s8_coop", p);
}

TEST(Auxiliary, IsWrittenInTheStoreWhereAKernelCan) {
  Problem p = problem_of(kBf16Types, "TN", Order::kRowMajor, 2048, 2048, 2048, "bias_col+gelu+aux");
  EXPECT_EQ(plan_of(p).kernel().name, "wgmma_bf16_fused_x");
  EXPECT_EQ(plan_of(p, {.workspace_limit = 0}).steps.size(), 1u);
  p.epilogue.scale = VectorKind::kPerRow;
  EXPECT_EQ(plan_of(p).kernel().name, "wgmma_bf16_f32") << "finished later";
  p.epilogue = parse_epilogue("bias_col+gelu");
  p.ldx = 0;
  EXPECT_EQ(plan_of(p).kernel().name, "wgmma_bf16_fused");
  p.epilogue.auxiliary = Auxiliary::kBeforeActivation;
  p = with_default_ld(p);
  EXPECT_EQ(refusal(p, {.kernel = choose_kernels("wgmma_bf16_fused").front()}),
            "epilogue is bias per column, gelu, auxiliary output, but wgmma_bf16_fused writes D "
            "alone");
}

TEST(Auxiliary, OnTheCpuItIsTheSame) {
  Problem p = problem_of(kF32Types, "NN", Order::kRowMajor, 2, 3, 1, "bias_col+relu+aux");
  p.ldx = 4;
  const float a[] = {1, -2}, b[] = {3, 4, -5}, bias[] = {1, -10, 2};
  float d[6] = {}, x[8] = {9, 9, 9, 9, 9, 9, 9, 9};
  const auto address = [](const void* at) { return reinterpret_cast<std::uint64_t>(at); };
  gemm::host::multiply_on_cpu(
      p,
      {.a = address(a), .b = address(b), .d = address(d), .bias = address(bias), .x = address(x)});
  EXPECT_EQ(std::vector<float>(x, x + 8), (std::vector<float>{4, -6, -3, 9, -5, -18, 12, 9}));
  EXPECT_EQ(std::vector<float>(d, d + 6), (std::vector<float>{4, 0, 0, 0, 0, 12}));
}

TEST(Auxiliary, IsApartFromAllOtherOperands) {
  const Problem p = problem_of(kF32Types, "NN", Order::kRowMajor, 8, 8, 8, "bias_col+relu+aux");
  const gemm::Plan plan = plan_of(p);
  const gemm::Arguments good{
      .operands = {.a = 0x10000, .b = 0x20000, .d = 0x40000, .bias = 0x50000, .x = 0x60000},
      .workspace = 0x700000,
      .workspace_bytes = 1 << 20};
  EXPECT_TRUE(check(plan, good).ok()) << check(plan, good).message;
  const auto refused = [&](std::uint64_t x, const char* message) {
    gemm::Arguments changed = good;
    changed.operands.x = x;
    EXPECT_EQ(check(plan, changed).message, message);
  };
  refused(0, "address of X is 0, but the epilogue has an auxiliary output");
  refused(0x60001, "address of X is 393217, but must be a multiple of its element's bytes, 4");
  refused(0x10000 + 252,
          "X shares an element with A, but the output must not overlap an input "
          "that is read");
  refused(0x40000 - 252, "D shares an element with X, but two outputs must not overlap");
  refused(0x50000,
          "X shares an element with the bias of the epilogue, but the output must not "
          "overlap an input that is read");
}

TEST(Auxiliary, WhatCannotBeIsRefusedByName) {
  Problem p = problem_of(kBf16Types, "NN", Order::kRowMajor, 64, 64, 64, "relu+aux");
  EXPECT_EQ(refusal(p), "");
  p.ldx = 63;
  EXPECT_TRUE(refusal(p).starts_with("ldx is 63, but must be at least 64 for this X"))
      << refusal(p);
  p.ldx = 64;
  p.batch = {.kind = BatchKind::kStrided, .count = 3, .stride_d = 4096, .stride_x = 0};
  EXPECT_EQ(refusal(p), "stride_x is 0, but X of products 0 and 1 must not share an element");
  p.batch.stride_x = 4095;
  EXPECT_EQ(refusal(p), "stride_x is 4095, but X of products 0 and 1 must not share an element");
  p.batch = {.kind = BatchKind::kPointers, .count = 2, .alignment = 16};
  EXPECT_EQ(refusal(p), "no kernel takes an auxiliary output of a batch of pointers of 2 yet");
  p.batch = {};
  p.types = kS8Types;
  EXPECT_EQ(refusal(p), "no kernel takes an epilogue (relu, auxiliary output) of sums in s32 yet");
}

TEST(Auxiliary, HasAWordOfItsOwn) {
  const Epilogue epilogue = parse_epilogue("aux+gelu+bias_row");
  EXPECT_TRUE(epilogue.writes_x());
  EXPECT_EQ(name_of(epilogue), "bias_row+gelu+aux");
  EXPECT_EQ(describe(epilogue), "bias per row, gelu, auxiliary output");
  EXPECT_FALSE(epilogue == parse_epilogue("gelu+bias_row"));
  EXPECT_THROW(parse_epilogue("aux+aux"), StatusError);
}

}  // namespace
}  // namespace tessera
