// Many products in one call: by kernels that take a batch in one launch, and one product after the
// other by those that do not. Verified on the virtual GPU under all checks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "device/buffer.h"
#include "gemm/call/multiply.h"
#include "lab/verify/lattice.h"
#include "lab/verify/verify.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

// Each is a different kernel source, or another way of loading.
constexpr const char* kInOneLaunch[] = {
    "simt_f32_sm75/64x64",    "simt_f32_sm80/64x64", "simt_f64_sm75/32x32",
    "simt_f64_sm80/32x32",    "simt_f32_vector",     "dmma_f64_sm80/64x32",
    "dmma_f64/64x32",         "small_f32/16x16",     "small_f32/64x64",
    "small_f64/16x16",        "small_f64/64x64",     "small_bf16/16x16",
    "small_bf16_f32/32x32",   "small_f16/32x32",     "small_f16_f32/16x16",
    "simt_f32_direct/128x128"};
constexpr const char* kForEach[] = {"simt_f32/64x32",
                                    "wgmma_bf16/64x32x128_s6_coop",
                                    "wgmma_f16_f32/64x32x128_s6_coop",
                                    "wgmma_tf32/64x32x64_s6_coop",
                                    "12_warp_tile",
                                    "24_tensor_core_wmma"};

struct Case {
  const char* layout;
  Order order;
  int pad;  // of each ld
  int gap;  // elements between products
  double alpha, beta;
  int misalign;
  bool in_place;
};
constexpr Case kCases[] = {{"NN", Order::kColumnMajor, 0, 0, 1, 0, 0, false},
                           {"NT", Order::kRowMajor, 3, 1, -1.5, 0.5, 0, false},
                           {"TN", Order::kColumnMajor, 4, 4, 2, 1, 0, true},
                           {"TT", Order::kColumnMajor, 1, 7, 1, -1, 1, true},
                           {"NN", Order::kRowMajor, 0, 16, 0, 2, 0, false}};

Problem strided(const Case& one, const Types& types, std::int64_t m, std::int64_t n, std::int64_t k,
                std::int64_t count) {
  Problem p{.m = m,
            .n = n,
            .k = k,
            .types = types,
            .order = one.order,
            .alpha = one.alpha,
            .beta = one.beta};
  set_layout(p, one.layout);
  p = with_default_ld(p);
  p.lda += one.pad, p.ldb += one.pad, p.ldc += one.pad, p.ldd += one.pad;
  p.batch = {.kind = BatchKind::kStrided,
             .count = count,
             .stride_a = view_a(p).span() + one.gap,
             .stride_b = view_b(p).span() + one.gap,
             .stride_c = view_c(p).span() + one.gap,
             .stride_d = view_d(p).span() + one.gap};
  return p;
}

lab::VerifyResult verified(const char* kernel, const Problem& problem, lab::VerifyOptions options) {
  options.checks = !test_on_cuda();
  const lab::VerifyResult result =
      lab::verify(small_test_device(), choose_kernels(kernel).front(), problem, options);
  EXPECT_TRUE(result.ok()) << kernel << ' ' << layout_of(problem) << ' ' << describe(problem.batch)
                           << ": " << result.reason;
  EXPECT_EQ(result.integers, "full");
  return result;
}

Types types_of(const char* kernel) { return choose_kernels(kernel).front().kernel->types; }

lab::VerifyOptions options_of(const Case& one) {
  lab::VerifyOptions options;
  options.misalign = one.misalign;
  options.in_place = one.in_place;
  return options;
}

gemm::Plan plan_of(const char* kernel, const Problem& problem) {
  gemm::PlanOptions options;
  options.kernel = choose_kernels(kernel).front();
  return gemm::plan(problem, {}, gemm::limits_of(small_test_device().info()), options);
}

TEST(Batch, StridedInOneLaunch) {
  for (const char* kernel : kInOneLaunch) {
    for (const Case& one : kCases) {
      const Problem problem = strided(one, types_of(kernel), 37, 70, 19, 5);
      EXPECT_FALSE(plan_of(kernel, problem).offers.front().is_for_each()) << kernel;
      verified(kernel, problem, options_of(one));
    }
  }
}

TEST(Batch, StridedOneProductAfterTheOther) {
  for (const char* kernel : kForEach) {
    for (const Case& one : kCases) {
      const Problem problem = strided(one, types_of(kernel), 37, 70, 19, 4);
      const gemm::Plan plan = plan_of(kernel, problem);
      EXPECT_TRUE(plan.offers.front().is_for_each()) << kernel;
      EXPECT_EQ(plan.rounds(), 4);
      verified(kernel, problem, options_of(one));
    }
  }
}

// Operands that tensor copies take: their maps have three dimensions.
TEST(Batch, StridedByTensorCopies) {
  struct Row {
    const char* kernel;
    std::string_view layouts;  // whose operands need not be repacked
  };
  for (const auto& [kernel, in_one_launch] :
       {Row{"wgmma_bf16/64x32x128_s6_coop", "NN NT TN TT"},
        Row{"wgmma_bf16/128x128x64_s6_pp", "NN NT TN TT"},
        Row{"wgmma_f16_f32/64x32x128_s6_coop", "NN NT TN TT"},
        Row{"wgmma_tf32/64x32x64_s6_coop", "TN"}, Row{"wgmma_tf32/128x64x32_s8_coop", "NN TN TT"},
        Row{"simt_f32_direct/256x128", "NN NT TN TT"},
        Row{"simt_f32_direct/128x128", "NN NT TN TT"}}) {
    for (const char* layout : {"NN", "NT", "TN", "TT"}) {
      const bool for_each = in_one_launch.find(layout) == std::string_view::npos;
      const Case one{layout, Order::kColumnMajor, 8, 0, 2, 0.5, 0, false};
      Problem problem = strided(one, types_of(kernel), 72, 136, 72, 5);
      EXPECT_EQ(plan_of(kernel, problem).offers.front().is_for_each(), for_each)
          << kernel << layout;
      verified(kernel, problem, options_of(one));
      if (layout != std::string_view("TN")) continue;
      problem.batch.stride_b = 0;
      verified(kernel, problem, options_of(one));
      problem.ldd = problem.ldc = 75,
      problem.batch.stride_d = problem.batch.stride_c = 75 * 136 + 1;
      EXPECT_EQ(plan_of(kernel, problem).offers.front().is_for_each(), for_each)
          << kernel << layout;
      verified(kernel, problem, options_of(one));
    }
  }
}

// Every other product has an odd address, and is stored element by element. alpha, beta and their
// products are rounded, so that another order of roundings has other bits.
TEST(Batch, ProductsHaveTheSameBitsAtAnyAlignment) {
  for (const char* kernel :
       {"simt_f32_direct/128x128", "simt_f32_direct/64x128", "simt_f32/64x64", "simt_f32/128x16"}) {
    Problem problem{.m = 128, .n = 128, .k = 16, .types = types_of(kernel)};
    problem.alpha = 1.1, problem.beta = 0.7;
    problem = with_default_ld(problem);
    problem.batch = {BatchKind::kStrided, 5, 128 * 16, 16 * 128, 128 * 128 + 1, 128 * 128 + 1};
    verified(kernel, problem, {});
  }
}

// What `verify` walks.
TEST(Batch, EveryCaseOfTheLattice) {
  for (const char* kernel : {"simt_f32_sm80/64x64", "dmma_f64/64x32", "simt_f64_sm75/32x32",
                             "simt_f32_direct/128x128"}) {
    int in_one_launch = 0;
    for (const lab::LatticeCase& one : lab::batch_lattice(types_of(kernel), 3)) {
      lab::VerifyOptions options;
      options.in_place = one.in_place;
      options.misalign = one.misalign;
      verified(kernel, one.problem, options);
      in_one_launch += !plan_of(kernel, one.problem).offers.front().is_for_each();
    }
    EXPECT_EQ(in_one_launch, 24) << kernel;
  }
}

// Each address in a batch of pointers is a multiple of the stated alignment, and of no larger one.
TEST(Batch, Pointers) {
  for (const char* kernel : kInOneLaunch) {
    for (const Case& one : kCases) {
      Problem problem = strided(one, types_of(kernel), 37, 70, 19, 5);
      const int least = std::max(size_of(problem.types.a), size_of(problem.types.d));
      for (const int alignment : {least, 16}) {
        problem.batch = {.kind = BatchKind::kPointers, .count = 5, .alignment = alignment};
        verified(kernel, problem, options_of(one));
      }
    }
  }
}

TEST(Batch, KernelsThatTakeNoAddressesFromMemoryRefuseThem) {
  for (const char* kernel : {"simt_f32/64x32", "12_warp_tile", "24_tensor_core_wmma"}) {
    Problem problem = strided(kCases[0], types_of(kernel), 37, 70, 19, 4);
    problem.batch = {.kind = BatchKind::kPointers, .count = 4, .alignment = 16};
    try {
      plan_of(kernel, problem);
      ADD_FAILURE() << kernel << " took it";
    } catch (const StatusError& error) {
      EXPECT_EQ(error.status().code, StatusCode::kUnsupported);
      const std::string name = choose_kernels(kernel).front().kernel->name;
      EXPECT_EQ(error.status().message, "batch is a batch of pointers of 4, but " + name +
                                            " does not read addresses from device memory");
    }
  }
}

// A stride of 0 is an operand that all products share.
TEST(Batch, SharedOperands) {
  for (const char* kernel :
       {"simt_f32_sm80/64x64", "dmma_f64/64x32", "simt_f32/64x32", "simt_f32_direct/128x128"}) {
    for (int shared = 1; shared < 8; ++shared) {
      Problem problem = strided(kCases[1], types_of(kernel), 33, 18, 21, 4);
      if (shared & 1) problem.batch.stride_a = 0;
      if (shared & 2) problem.batch.stride_b = 0;
      if (shared & 4) problem.batch.stride_c = 0;
      verified(kernel, problem, {});
    }
  }
}

// The same of operands that tensor copies take, whose maps then hold one matrix.
TEST(Batch, SharedOperandsByTensorCopies) {
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (int shared = 1; shared < 8; ++shared) {
      const Case one{layout, Order::kColumnMajor, 8, 4, 2, 0.5, 0, false};
      Problem problem = strided(one, kF32Types, 72, 136, 24, 3);
      if (shared & 1) problem.batch.stride_a = 0;
      if (shared & 2) problem.batch.stride_b = 0;
      if (shared & 4) problem.batch.stride_c = 0;
      const gemm::Plan plan = plan_of("simt_f32_direct/256x128", problem);
      EXPECT_FALSE(plan.steps[0].maps.empty()) << layout;
      verified("simt_f32_direct/256x128", problem, options_of(one));
    }
  }
}

// Several tiles a product and several products a CTA; and products that interleave in memory.
TEST(Batch, ManyTilesAndInterleavedProducts) {
  for (const char* kernel : kInOneLaunch) {
    verified(kernel, strided(kCases[1], types_of(kernel), 130, 131, 33, 7), {});
    Problem problem = strided(kCases[0], types_of(kernel), 8, 8, 8, 3);
    problem.lda = problem.ldb = problem.ldc = problem.ldd = 24;
    problem.batch.stride_a = problem.batch.stride_b = problem.batch.stride_d = 8;
    verified(kernel, problem, {});
  }
}

TEST(Batch, NansStayInTheirProduct) {
  for (const char* kernel : {"simt_f32_sm80/64x64", "dmma_f64/64x32", "wgmma_bf16",
                             "simt_f32_direct/128x128", "mma_bf16/64x64", "mma_f16/128x128"}) {
    lab::VerifyOptions options;
    options.nans = 2;
    verified(kernel, strided(kCases[2], types_of(kernel), 20, 24, 31, 5), options);
    Problem unread = strided(kCases[0], types_of(kernel), 20, 24, 31, 5);
    unread.k = 0;
    verified(kernel, unread, options);
  }
}

TEST(Batch, NoneAndOneAndNothing) {
  for (const char* kernel : {"simt_f32_sm80/64x64", "dmma_f64/64x32", "simt_f32/64x32"}) {
    const Problem none = strided(kCases[1], types_of(kernel), 20, 24, 31, 0);
    EXPECT_TRUE(plan_of(kernel, none).steps.empty());
    EXPECT_EQ(plan_of(kernel, none).workspace_bytes(), 0);
    verified(kernel, none, {});
    const Problem one = strided(kCases[1], types_of(kernel), 20, 24, 31, 1);
    EXPECT_EQ(plan_of(kernel, one).problem.batch, Batch{}) << "as without a batch";
    verified(kernel, one, {});
    const Problem empty = strided(kCases[1], types_of(kernel), 0, 24, 31, 3);
    EXPECT_TRUE(plan_of(kernel, empty).steps.empty());
    verified(kernel, empty, {});
  }
}

// Every product has the same alignment, or is taken to have it: what is planned must suit all.
TEST(Batch, TheStrideIsPartOfTheAlignment) {
  // Neither operand is along k.
  Problem problem =
      strided({"NT", Order::kColumnMajor, 0, 0, 1, 0, 0, false}, kF32Types, 64, 64, 64, 3);
  const auto entry = [&] { return plan_of("simt_f32/64x32", problem).row().entry; };
  const std::string aligned = entry();
  problem.batch.stride_a += 2;
  EXPECT_NE(entry(), aligned);
  problem.batch.stride_a += 2;
  EXPECT_EQ(entry(), aligned);
  problem.batch.stride_b += 1;
  EXPECT_NE(entry(), aligned);
  problem.batch.count = 1;
  problem.batch.stride_a = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(entry(), aligned) << "of one product no stride is used";
}

// A batch that is chosen freely, on this GPU and on others.
TEST(Batch, TheLibraryChoosesAmongBoth) {
  const auto best = [](const Problem& problem, int sm) {
    return gemm::plan(problem, {}, {.sm = sm, .sms = 132});
  };
  for (const Types& types : {kF32Types, kF64Types}) {
    for (const int sm : {75, 80, 90, 100, 120}) {
      const gemm::Plan small = best(strided(kCases[0], types, 32, 32, 32, 10000), sm);
      EXPECT_FALSE(small.offers.front().is_for_each()) << small.kernel().name;
      const gemm::Plan large = best(strided(kCases[0], types, 8192, 8192, 8192, 2), sm);
      EXPECT_EQ(large.kernel().name,
                best({.m = 8192, .n = 8192, .k = 8192, .types = types}, sm).kernel().name);
      Problem pointers = strided(kCases[0], types, 200, 300, 400, 3);
      pointers.batch = {.kind = BatchKind::kPointers, .count = 3, .alignment = 8};
      EXPECT_EQ(best(pointers, sm).steps.size(), 1u);
    }
  }
  EXPECT_TRUE(best(strided(kCases[0], kBf16Types, 512, 512, 512, 64), 90).rounds() > 0);
  Problem pointers = strided(kCases[0], kE4m3Types, 16, 16, 16, 3);
  EXPECT_THROW(best(pointers, 90), StatusError);
}

TEST(Batch, AGridHasRoomForSoManyTiles) {
  // 2^31 products of one tile: one after the other.
  Problem problem = strided(kCases[0], kF32Types, 1, 1, 1, std::int64_t{1} << 31);
  EXPECT_TRUE(plan_of("simt_f32_sm80/64x64", problem).offers.front().is_for_each());
  problem.batch.count -= 1;
  EXPECT_FALSE(plan_of("simt_f32_sm80/64x64", problem).offers.front().is_for_each());
  problem.batch = {.kind = BatchKind::kPointers, .count = std::int64_t{1} << 31, .alignment = 16};
  EXPECT_THROW(plan_of("simt_f32_sm80/64x64", problem), StatusError);
}

TEST(Batch, ArraysOfAddressesAreCheckedForWhatCanBeSeen) {
  Problem problem = strided(kCases[1], kF32Types, 8, 8, 8, 3);
  problem.batch = {.kind = BatchKind::kPointers, .count = 3, .alignment = 4};
  const gemm::Plan plan = plan_of("simt_f32_sm80/64x64", problem);
  gemm::Arguments arguments{{64, 128, 192, 256}, 1, 1};
  EXPECT_TRUE(check(plan, arguments).ok());
  arguments.operands.c = 196;
  EXPECT_EQ(check(plan, arguments).message,
            "address of C is 196, but an array of addresses begins at a multiple of 8 bytes");
  arguments.operands.c = 0;
  EXPECT_EQ(check(plan, arguments).message, "address of C is 0, but C is read where beta is not 0");
}

// The second product begins beyond 2^31 elements, the third beyond 2^32.
template <class T>
void expect_far_products(const char* kernel) {
  const auto device = make_virtual_device({.memory_bytes = std::size_t{1} << 42, .sms = 3});
  constexpr std::int64_t kStride = (std::int64_t{1} << 31) + 8;
  constexpr int kSize = 4, kCount = 3, kElements = kSize * kSize;
  Problem problem{.m = kSize, .n = kSize, .k = kSize, .types = types_of(kernel)};
  problem.batch = {.kind = BatchKind::kStrided,
                   .count = kCount,
                   .stride_a = kStride,
                   .stride_b = kStride + 8,
                   .stride_d = kStride + 16};
  const auto bytes = [](std::int64_t stride) {
    return static_cast<std::size_t>((kCount - 1) * stride + kElements) * sizeof(T);
  };
  const DeviceBuffer a(*device, bytes(kStride)), b(*device, bytes(kStride + 8)),
      d(*device, bytes(kStride + 16));
  for (int i = 0; i < kCount; ++i) {
    T one[kElements], two[kElements];
    for (int e = 0; e < kElements; ++e) one[e] = static_cast<T>(i + 1), two[e] = static_cast<T>(e);
    device->copy_in(a.address() + i * kStride * sizeof(T), one, sizeof one);
    device->copy_in(b.address() + i * (kStride + 8) * sizeof(T), two, sizeof two);
  }
  gemm::PlanOptions options;
  options.kernel = choose_kernels(kernel).front();
  gemm::Handle handle(*device);
  gemm::multiply(handle, problem, {a.address(), b.address(), 0, d.address()}, options);
  for (int i = 0; i < kCount; ++i) {
    T seen[kElements];
    device->copy_out(seen, d.address() + i * (kStride + 16) * sizeof(T), sizeof seen);
    for (int e = 0; e < kElements; ++e) {
      const int column = e / kSize * kSize;  // of B: 4 neighbours
      EXPECT_EQ(seen[e], static_cast<T>((i + 1) * (4 * column + 6))) << kernel << ' ' << i;
    }
  }
}

TEST(Batch, ProductsBeyondTwoToThe31Elements) {
  if (test_on_cuda()) GTEST_SKIP() << "memory that is there only where somebody comes";
  expect_far_products<float>("simt_f32_sm80/64x64");
  expect_far_products<double>("simt_f64_sm75/32x32");
  expect_far_products<double>("dmma_f64/64x32");
  expect_far_products<float>("simt_f32/64x32");
  expect_far_products<float>("simt_f32_direct/256x128");
}

// The handle tells batches apart.
TEST(Batch, APlanIsKeptForItsBatchAlone) {
  gemm::Handle handle(small_test_device());
  Problem problem = strided(kCases[0], kF32Types, 16, 16, 16, 3);
  const auto first = handle.prepared(problem, {});
  EXPECT_EQ(handle.prepared(problem, {}), first);
  problem.batch.stride_b = 0;
  EXPECT_NE(handle.prepared(problem, {}), first);
  problem.batch.count = 4;
  EXPECT_NE(handle.prepared(problem, {}), first);
  EXPECT_EQ(handle.plans(), 3u);
}

}  // namespace
}  // namespace tessera
