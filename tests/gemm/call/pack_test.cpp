// Operands that are packed once: the same bits as without, from whichever calls read them, and what
// does not fit is refused.
#include "gemm/call/pack.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "device/virtual/observer.h"
#include "gemm/call/multiply.h"
#include "tests/gemm/call/f16x3.h"

namespace tessera {
namespace {

Floats normals(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  Floats x(count);
  for (float& one : x) one = normal(generator);
  return x;
}

// The bits of numbers, for comparisons that include NaN.
std::vector<std::uint32_t> bits_of(const Floats& x) {
  std::vector<std::uint32_t> bits;
  for (const float one : x) bits.push_back(std::bit_cast<std::uint32_t>(one));
  return bits;
}

// A packed operand in memory of its own.
struct Packed {
  DeviceBuffer memory;
  gemm::PackedArgument argument;

  Packed(const Problem& p, OperandId operand, const DeviceBuffer& matrix)
      : Packed(gemm::packing_of(p, operand, limits()), operand, matrix) {}
  Packed(const gemm::Packing& packing, OperandId operand, const DeviceBuffer& matrix)
      : memory(small_test_device(), static_cast<std::size_t>(packing.bytes) + 1),
        argument{memory.address(), packing.bytes} {
    Device& device = small_test_device();
    gemm::pack(device, device, packing, operand, matrix.address(), memory.address());
    device.synchronize();
  }
  static gemm::DeviceLimits limits() { return gemm::limits_of(small_test_device().info()); }
};

struct Outcome {
  Floats d;
  std::size_t launches;
  std::int64_t workspace;
};

// With the checks of the virtual GPU.
Outcome run(const Problem& p, const DeviceBuffer& a, const DeviceBuffer& b, const Packed* packed_a,
            const Packed* packed_b, const char* variant = "128x64x32_s8",
            std::int64_t limit = gemm::kAnyWorkspace) {
  Device& device = small_test_device();
  const DeviceBuffer d = uploaded(Floats(p.ldd * p.m * p.n, -7.0f));
  gemm::PlanOptions options{.workspace_limit = limit};
  options.kernel = choose_kernels(std::string("wgmma_f16x3/") + variant).front();
  options.packed = {packed_a != nullptr, packed_b != nullptr};
  observe(device, {.checks = true});
  take_counts(device);
  gemm::Handle handle(device);
  const auto prepared = handle.prepared(p, {4, 4, 4, 4}, options);
  gemm::Arguments arguments{{a.address(), b.address(), 0, d.address()}, p.alpha, p.beta};
  if (packed_a) arguments.packed_a = packed_a->argument;
  if (packed_b) arguments.packed_b = packed_b->argument;
  gemm::run(handle, *prepared, arguments);
  device.synchronize();
  for (const LaunchCounts& launch : take_counts(device)) {
    EXPECT_TRUE(launch.findings.empty()) << launch.findings.front().message;
  }
  observe(device, {});
  Outcome result{Floats(p.ldd * p.m * p.n), prepared->launches(),
                 prepared->plan().workspace_bytes()};
  device.copy_out(result.d.data(), d.address(), result.d.size() * sizeof(float));
  return result;
}

TEST(Pack, GivesTheSameBitsInAnyLayout) {
  std::mt19937 draw(20261129);
  const auto below = [&](int n) { return static_cast<std::int64_t>(draw() % n); };
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    for (const Order order : {Order::kRowMajor, Order::kColumnMajor}) {
      Problem p = f16x3_product(1 + below(200), 1 + below(200), 1 + below(200), layout);
      p.order = order;
      p.lda = p.ldb = p.ldc = p.ldd = 0;
      p = with_default_ld(p);
      p.lda += below(3), p.ldb += below(3);
      const DeviceBuffer a = uploaded(normals(view_a(p).span(), 1)),
                         b = uploaded(normals(view_b(p).span(), 2));
      const Packed of_a(p, OperandId::kA, a), of_b(p, OperandId::kB, b);
      const Outcome plain = run(p, a, b, nullptr, nullptr);
      EXPECT_EQ(plain.launches, 2u);
      for (const auto& [first, second] :
           {std::pair(&of_a, &of_b), {&of_a, nullptr}, {nullptr, &of_b}}) {
        const Outcome packed = run(p, a, b, first, second);
        EXPECT_EQ(packed.d, plain.d) << layout << ' ' << name_of(order);
        EXPECT_EQ(packed.launches, first && second ? 1u : 2u);
        EXPECT_LT(packed.workspace, plain.workspace);
      }
    }
  }
}

// The form has nothing of the other operand, of orders or of leading dimensions.
TEST(Pack, OneFormServesManyProblems) {
  const Problem p = f16x3_product(20, 75, 130, "NT");
  const Floats weights = normals(75 * 130, 3);
  const DeviceBuffer b = uploaded(weights), zeros = uploaded(Floats(75 * 130, 0.0f));
  const Packed packed(p, OperandId::kB, b);
  for (const std::int64_t m : {1, 20, 161}) {
    const Problem other = f16x3_product(m, 75, 130, "NN");
    Floats transposed(weights.size());
    for (int j = 0; j < 75; ++j) {
      for (int l = 0; l < 130; ++l) transposed[l * 75 + j] = weights[j * 130 + l];
    }
    const DeviceBuffer a = uploaded(normals(m * 130, 4)), b_other = uploaded(transposed);
    const Floats plain = run(other, a, b_other, nullptr, nullptr, "128x128x32_s6").d;
    // WHY zeros: terms alone are read where they suffice.
    EXPECT_EQ(run(other, a, zeros, nullptr, &packed, "128x128x32_s6").d, plain) << "m " << m;
  }
  // As the left operand of the transposed product.
  const Problem left = f16x3_product(75, 9, 130, "NN");
  const DeviceBuffer x = uploaded(normals(130 * 9, 5));
  EXPECT_EQ(run(left, zeros, x, &packed, nullptr).d, run(left, b, x, nullptr, nullptr).d);
}

TEST(Pack, WhatTermsLoseIsStillNoticed) {
  const Problem p = f16x3_product(5, 6, 300);
  for (const float x : {INFINITY, std::ldexp(1.5f, -40), std::ldexp(1.5f, 127)}) {
    Floats of_b(p.k * p.n, x < 1 ? 0.0f : 0.5f);
    of_b[3] = 1;
    of_b.back() = of_b[p.n + 3] = x;
    Floats of_a(p.m * p.k, 0.0f);
    of_a[1] = 1;  // what is far below 1 in column 3
    of_a[2 * p.k + 299] = 1;
    const DeviceBuffer a = uploaded(of_a), b = uploaded(of_b);
    const Packed packed(p, OperandId::kB, b);
    const Floats d = run(p, a, b, nullptr, &packed).d;
    EXPECT_EQ(bits_of(d), bits_of(run(p, a, b, nullptr, nullptr).d)) << x;
    EXPECT_EQ(d[3], x);
    EXPECT_EQ(d[2 * p.n + 5], x);
  }
}

// Rows of one that is shared are those of one product, or each product is launched by itself.
TEST(Pack, ABatchReadsAnOperandThatItsProductsShare) {
  Problem p = f16x3_product(30, 40, 96);
  p.batch = {BatchKind::kStrided, 3, 30 * 96, 0, 30 * 40, 30 * 40};
  const DeviceBuffer a = uploaded(normals(3 * 30 * 96, 6)), b = uploaded(normals(96 * 40, 7));
  const Packed packed(f16x3_product(1, 40, 96), OperandId::kB, b);
  Device& device = small_test_device();
  const auto multiplied = [&](const gemm::PlanOptions& options) {
    const DeviceBuffer d = uploaded(Floats(3 * 30 * 40, -7.0f));
    gemm::Handle handle(device);
    const auto prepared = handle.prepared(p, {}, options);
    gemm::Arguments arguments{{a.address(), b.address(), 0, d.address()}, 1, 0};
    if (options.packed.b) arguments.packed_b = packed.argument;
    gemm::run(handle, *prepared, arguments);
    device.synchronize();
    Floats out(3 * 30 * 40);
    device.copy_out(out.data(), d.address(), out.size() * sizeof(float));
    return out;
  };
  for (const gemm::Policy fold : {gemm::Policy::kModel, gemm::Policy::kNever}) {
    gemm::PlanOptions options{.fold = fold};
    options.kernel = choose_kernels("wgmma_f16x3/128x64x32_s8").front();
    const Floats plain = multiplied(options);
    options.packed.b = true;
    EXPECT_EQ(multiplied(options), plain);
    options.packed = {.a = true};
    EXPECT_THROW(gemm::plan(p, {}, Packed::limits(), options), StatusError);
  }
}

TEST(Pack, ProductsInPartsReadTheMatrix) {
  const Problem p = f16x3_product(300, 260, 520);
  const DeviceBuffer a = uploaded(normals(300 * 520, 8)), b = uploaded(normals(520 * 260, 9));
  const Packed packed(p, OperandId::kB, b);
  const std::int64_t whole = run(p, a, b, nullptr, &packed).workspace;
  const Floats plain = run(p, a, b, nullptr, nullptr, "128x64x32_s8", whole / 2).d;
  EXPECT_EQ(run(p, a, b, nullptr, &packed, "128x64x32_s8", whole / 2).d, plain);
}

std::string why_not(const gemm::Plan& plan, const gemm::Arguments& arguments) {
  return gemm::check(plan, arguments).message;
}

TEST(Pack, WhatDoesNotFitThePlanIsRefused) {
  const Problem p = f16x3_product(8, 8, 8);
  const auto planned = [&](gemm::PackedOperands packed) {
    gemm::PlanOptions options{.packed = packed};
    options.kernel = choose_kernels("wgmma_f16x3/128x64x32_s8").front();
    return gemm::plan(p, {}, {.sm = 90, .sms = 132}, options);
  };
  const gemm::Plan with_b = planned({.b = true}), plain = planned({});
  gemm::Arguments arguments{{0x1000, 0x2000, 0, 0x3000}, 1, 0, 0x100000, 1 << 20};
  EXPECT_EQ(why_not(plain, arguments), "");
  EXPECT_NE(why_not(with_b, arguments).find("packed_b is null"), std::string::npos);
  arguments.packed_b = {0x4000, 0x800};
  EXPECT_EQ(why_not(with_b, arguments), "");
  EXPECT_NE(why_not(plain, arguments).find("packed_b is given"), std::string::npos);
  arguments.packed_a = arguments.packed_b;
  EXPECT_NE(why_not(with_b, arguments).find("packed_a is given"), std::string::npos);
  arguments.packed_a = {};
  arguments.packed_b.address = 0x4080;
  EXPECT_NE(why_not(with_b, arguments).find("multiple of 256"), std::string::npos);
  arguments.packed_b.address = 0x2900;  // its end is D's first byte
  EXPECT_NE(why_not(with_b, arguments).find("overlaps D"), std::string::npos);
  arguments.packed_b.address = 0x2800;
  EXPECT_EQ(why_not(with_b, arguments), "");
  arguments.packed_b.address = 0x100000 - 0x700;
  EXPECT_NE(why_not(with_b, arguments).find("overlaps the workspace"), std::string::npos);
  arguments.packed_b = {};
  arguments.alpha = 0;  // nothing of A and B is read
  Problem unread = p;
  unread.alpha = 0;
  EXPECT_EQ(
      why_not(gemm::plan(unread, {}, {.sm = 90, .sms = 132}, {.packed = {.b = true}}), arguments),
      "");
}

TEST(Pack, OnlyTermsHaveAForm) {
  Problem p = f16x3_product(8, 8, 8);
  const gemm::DeviceLimits hopper{.sm = 90, .sms = 132}, ampere{.sm = 80, .sms = 108};
  EXPECT_GT(gemm::packing_of(p, OperandId::kB, hopper).bytes, 0);
  EXPECT_THROW(gemm::packing_of(p, OperandId::kB, ampere), StatusError);
  p.types = kF32Types;
  EXPECT_THROW(gemm::packing_of(p, OperandId::kA, hopper), StatusError);
  p = f16x3_product(8, 8, 0);
  EXPECT_EQ(gemm::packing_of(p, OperandId::kB, hopper).bytes, 0) << "there is nothing to read";
  p = f16x3_product(8, 8, 8);
  p.batch = {BatchKind::kStrided, 2, 64, 0, 64, 64};
  EXPECT_THROW(gemm::packing_of(p, OperandId::kB, hopper), StatusError);
}

// What it saves is priced, so that packed operands move the size from which terms pay.
TEST(Pack, TheModelKnowsWhatItSaves) {
  const gemm::DeviceLimits hopper{.sm = 90, .sms = 132, .l2_bytes = 50 << 20};
  const auto repack = [&](gemm::PackedOperands packed) {
    const gemm::Plan plan =
        gemm::plan(f16x3_product(4096, 4096, 4096), {}, hopper, {.packed = packed});
    EXPECT_EQ(plan.kernel().name, "wgmma_f16x3");
    return plan.offers.front().cost.repack;
  };
  EXPECT_LT(repack({.b = true}), 0.7 * repack({}));
  EXPECT_EQ(repack({.a = true, .b = true}), 0);
}

}  // namespace
}  // namespace tessera
