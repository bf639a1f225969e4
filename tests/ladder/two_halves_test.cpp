// Rung 47: the bound of sums that are promoted, and one-line mistakes in its PTX, each of which
// must be noticed.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "device/buffer.h"
#include "lab/verify/prepared_call.h"
#include "lab/verify/verify.h"
#include "tests/support/kernel_choice.h"
#include "tests/support/test_device.h"

namespace tessera::two_halves {
namespace {

KernelChoice rung() { return choose_kernels("47").front(); }

Problem product_of(std::int64_t m, std::int64_t n, std::int64_t k, const char* layout) {
  Problem p{.m = m, .n = n, .k = k, .types = kF16x3Types, .order = Order::kRowMajor};
  set_layout(p, layout);
  return with_default_ld(p);
}

// Full mantissas; rows of A and columns of B differ by powers of two.
std::vector<float> drawn(const MatrixView& view, bool by_rows, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> x(view.span());
  for (std::int64_t i = 0; i < view.rows; ++i) {
    for (std::int64_t j = 0; j < view.cols; ++j) {
      const float fraction = std::uniform_real_distribution<float>(-1, 1)(random);
      x[i * view.row + j * view.col] =
          std::ldexp(fraction, static_cast<int>((by_rows ? i : j) % 40) - 20);
    }
  }
  return x;
}

std::vector<float> multiplied(const KernelChoice& choice, const Problem& p) {
  const auto upload = [](const std::vector<float>& x) {
    DeviceBuffer buffer(small_test_device(), x.size() * sizeof(float));
    small_test_device().copy_in(buffer.address(), x.data(), buffer.bytes());
    return buffer;
  };
  const DeviceBuffer a = upload(drawn(view_a(p), true, 1)), b = upload(drawn(view_b(p), false, 2));
  std::vector<float> d(p.m * p.n, -7.0f);
  const DeviceBuffer out = upload(d);
  const Operands operands{a.address(), b.address(), 0, out.address()};
  lab::PreparedCall(small_test_device(), choice, p, gemm::alignment_of(operands)).run(operands);
  small_test_device().copy_out(d.data(), out.address(), out.bytes());
  return d;
}

// The bound holds for numbers that are not far below the largest of their row
// (docs/api/compute-types.md).
TEST(TwoHalves, IsWithinTheBoundOfPromotedSums) {
  for (const char* layout : kLayouts) {
    const Problem p = product_of(270, 390, 197, layout);
    const MatrixView of_a = view_a(p), of_b = view_b(p);
    const std::vector<float> a = drawn(of_a, true, 1), b = drawn(of_b, false, 2);
    const double steps = static_cast<double>(p.k) / 32 + 29;
    for (const KernelChoice& choice : choose_kernels("47/all")) {
      const std::vector<float> d = multiplied(choice, p);
      for (std::int64_t i = 0; i < p.m; ++i) {
        for (std::int64_t j = 0; j < p.n; ++j) {
          double sum = 0, magnitude = 0;
          for (std::int64_t l = 0; l < p.k; ++l) {
            const double term = static_cast<double>(a[i * of_a.row + l * of_a.col]) *
                                b[l * of_b.row + j * of_b.col];
            sum += term, magnitude += std::abs(term);
          }
          ASSERT_NEAR(d[i * p.n + j], sum, steps * 0x1p-24 * magnitude)
              << choice.variant << ' ' << layout << " at " << i << ", " << j;
        }
      }
    }
  }
}

struct Planted {
  const char* name;
  std::string entry;  // of the rung: what follows its name
  std::string_view from, to;
  int only = -1;  // occurrence that is replaced; -1: all
};

// The steps of a chain are two of low * high, two of high * low and two of high * high.
const std::string kMultiply = "__128x192x32_s5", kSplit = "__terms";
constexpr std::string_view kAccumulates = "setp.ne.b32 accumulate", kNot = "setp.eq.b32 accumulate";
const Planted kPlanted[] = {
    {"AChainGoesOn", kMultiply, kAccumulates, kNot, 0},
    {"LowTermsOfAAreDropped", kMultiply, kAccumulates, kNot, 2},
    {"AllLowTermsAreDropped", kMultiply, kAccumulates, kNot, 4},
    {"HalfOfAChainIsDropped", kMultiply, kAccumulates, kNot, 5},
    {"ChainsArePromotedBeforeTheyEnd", kMultiply, "wgmma.wait_group.sync.aligned 0;", ""},
    {"ChainsBeginWithoutAFence", kMultiply, "wgmma.fence.sync.aligned;", ""},
    {"TermsOfAnotherType", kMultiply, "f32.f16.f16", "f32.bf16.bf16"},
    {"ASumIsNotPromoted", kMultiply, "add.f32", "sub.f32", 0},
    {"LowTermsAreNotWhatIsLeft", kSplit, "sub.f32", "add.f32", 0},
};

// The rung with a mistake in this entry.
lab::VerifyResult verify_with(const Planted& planted) {
  Kernel kernel = *rung().kernel;
  const std::string entry = "rung_" + kernel.name + planted.entry;
  std::string ptx(image_of(kernel, entry).ptx);
  const std::size_t begin = ptx.find(".entry " + entry + "(");
  int seen = 0, planted_in = 0;
  for (std::size_t at = ptx.find(planted.from, begin); at < ptx.find(".entry ", begin + 1);
       at = ptx.find(planted.from, at + 1)) {
    if (planted.only >= 0 && planted.only != seen++) continue;
    ptx.replace(at, planted.from.size(), planted.to);
    ++planted_in;
  }
  EXPECT_GT(planted_in, 0) << planted.from << " is not in the code any more";
  kernel.own_images = {
      {"", CodeImage{.name = "planted", .ptx = ptx, .cubin_arch = "sm_90a", .portable_ptx = {}}}};
  const auto device = make_virtual_device({.sms = 1});
  return lab::verify(*device, {&kernel, rung().variant}, product_of(130, 200, 200, "TN"),
                     {.checks = true});
}

class PlantedInTwoHalves : public testing::TestWithParam<Planted> {};

TEST_P(PlantedInTwoHalves, IsNoticed) {
  if (test_on_cuda()) GTEST_SKIP() << "broken kernels run on the virtual GPU";
  EXPECT_FALSE(verify_with(GetParam()).ok());
}

TEST(TwoHalves, PassesWhereNothingIsPlanted) {
  if (test_on_cuda()) GTEST_SKIP() << "as its neighbours";
  const lab::VerifyResult result = verify_with({"", kMultiply, kAccumulates, kAccumulates});
  EXPECT_TRUE(result.ok()) << result.reason;
}

INSTANTIATE_TEST_SUITE_P(Rung, PlantedInTwoHalves, testing::ValuesIn(kPlanted),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tessera::two_halves
