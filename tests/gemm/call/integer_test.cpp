// Products of 8-bit integers with sums of 32 bits: equal to integer arithmetic modulo 2^32, bit by
// bit, at the extremes of both types, in every layout and at sizes that no tile divides. The
// lattice of test_ladder covers the rest.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "device/buffer.h"
#include "gemm/call/multiply.h"
#include "gemm/host/cpu.h"
#include "tests/support/kernel_choice.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

constexpr const char* kLayouts[] = {"NN", "NT", "TN", "TT"};

struct Matrices {
  std::vector<std::int8_t> a, b;
  std::vector<std::int32_t> c, d;
};

Problem integers(std::int64_t m, std::int64_t n, std::int64_t k, const char* layout = "NN") {
  Problem p{.m = m, .n = n, .k = k, .types = kS8Types};
  set_layout(p, layout);
  return with_default_ld(p);
}

// Any values of both types, but `least` many times.
Matrices drawn(const Problem& p) {
  std::mt19937_64 draw(7);
  Matrices all;
  const auto byte = [&] { return draw() % 4 == 0 ? std::int8_t{-128} : std::int8_t(draw()); };
  all.a.resize(view_a(p).span()), all.b.resize(view_b(p).span());
  all.c.resize(view_c(p).span()), all.d.resize(view_d(p).span());
  for (auto* matrix : {&all.a, &all.b}) {
    for (std::int8_t& value : *matrix) value = byte();
  }
  for (std::int32_t& value : all.c) value = static_cast<std::int32_t>(draw());
  return all;
}

std::uint32_t wrapped(double factor) {
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(factor));
}

std::vector<std::int32_t> expected(const Problem& p, const Matrices& of) {
  const MatrixView a = view_a(p), b = view_b(p), c = view_c(p), d = view_d(p);
  std::vector<std::int32_t> out = of.d;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      std::uint32_t sum = 0;
      for (std::int64_t l = 0; l < p.k; ++l) {
        sum +=
            static_cast<std::uint32_t>(of.a[i * a.row + l * a.col] * of.b[l * b.row + j * b.col]);
      }
      const auto old = static_cast<std::uint32_t>(of.c[i * c.row + j * c.col]);
      out[i * d.row + j * d.col] =
          static_cast<std::int32_t>(wrapped(p.alpha) * sum + wrapped(p.beta) * old);
    }
  }
  return out;
}

template <class T>
DeviceBuffer on_device(const std::vector<T>& host) {
  DeviceBuffer buffer(small_test_device(), host.size() * sizeof(T));
  small_test_device().copy_in(buffer.address(), host.data(), buffer.bytes());
  return buffer;
}

std::vector<std::int32_t> multiplied(const Problem& p, const Matrices& of,
                                     const char* kernel = nullptr) {
  const DeviceBuffer a = on_device(of.a), b = on_device(of.b), c = on_device(of.c),
                     d = on_device(of.d);
  gemm::Handle handle(small_test_device());
  gemm::PlanOptions options;
  if (kernel) options.kernel = choose_kernels(kernel).at(0);
  gemm::multiply(handle, p, {a.address(), b.address(), c.address(), d.address()}, options);
  small_test_device().synchronize();
  std::vector<std::int32_t> out(of.d.size());
  small_test_device().copy_out(out.data(), d.address(), d.bytes());
  return out;
}

std::string refusal(const Problem& p) {
  if (const Status status = check(p); !status.ok()) return status.message;
  try {
    gemm::plan(p, {}, {.sm = 90, .sms = 132});
  } catch (const StatusError& error) {
    return error.status().message;
  }
  return "";
}

TEST(Integers, AreExactModulo32BitsInEveryLayout) {
  for (const char* kernel : {"wgmma_s8/64x128x128_s8_coop", "wgmma_s8/128x256x128_s4_coop"}) {
    for (const char* layout : kLayouts) {
      Problem p = integers(131, 77, 259, layout);
      p.alpha = -2147483647, p.beta = 3;
      const Matrices all = drawn(p);
      EXPECT_EQ(multiplied(p, all, kernel), expected(p, all)) << kernel << layout;
    }
  }
}

TEST(Integers, HaveTheSameBitsOnTheCpu) {
  Problem p = integers(37, 19, 1031, "TN");
  p.alpha = 2147483647, p.beta = -2147483648.0;
  Matrices all = drawn(p);
  const std::vector<std::int32_t> wanted = expected(p, all);
  const auto address = [](const auto& of) { return reinterpret_cast<std::uint64_t>(of.data()); };
  gemm::host::multiply_on_cpu(p, {address(all.a), address(all.b), address(all.c), address(all.d)});
  EXPECT_EQ(all.d, wanted);
}

// 2^17 products of 2^14.
TEST(Integers, WrapWhereALongSumLeavesTheRange) {
  const Problem p = integers(1, 2, 1 << 17, "TN");
  Matrices all = drawn(p);
  all.a.assign(all.a.size(), -128), all.b.assign(all.b.size(), -128);
  EXPECT_EQ(multiplied(p, all), (std::vector<std::int32_t>{-2147483647 - 1, -2147483647 - 1}));
}

TEST(Integers, AreRepackedWhereTheyLieAcrossKOrBetween16Bytes) {
  const auto repacked = [](std::int64_t side, const char* layout) {
    const gemm::Plan plan =
        gemm::plan(integers(side, side, side, layout), {}, {.sm = 90, .sms = 132});
    return plan.offers.front().decision.repack;
  };
  EXPECT_FALSE(repacked(256, "TN").any());
  EXPECT_TRUE(repacked(256, "NN").any());
  EXPECT_TRUE(repacked(250, "TN").any());
}

TEST(Integers, OtherFactorsTypesAndEpiloguesAreRefusedByName) {
  const auto says = [](const Problem& p, const char* part) {
    EXPECT_NE(refusal(p).find(part), std::string::npos) << refusal(p);
  };
  Problem p = integers(64, 64, 64);
  p.alpha = 0.5;
  says(p, "alpha is 0.5, but a factor must be a whole number of s32");
  p.alpha = 1, p.beta = 4294967296.0;
  says(p, "beta is 4.29497e+09, but a factor must be a whole number of s32");
  p.beta = 0, p.epilogue.activation = Activation::kRelu;
  says(p, "no kernel takes an epilogue (relu) of sums in s32 yet");
  p.epilogue = {}, p.types.c = p.types.d = ElementType::kS8;
  says(p, "no kernel multiplies s8 x s8 -> s8 with compute s32");
}

}  // namespace
}  // namespace tessera
