// The kernels on mma.sync, beyond what every kernel has to pass: operands of every alignment come
// in the widest pieces, shared memory is read and written without bank conflicts, and the kernels
// on CUDA cores, which round by integer arithmetic, give the same bits.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "device/virtual/virtual_device.h"
#include "lab/counts/count_run.h"
#include "lab/counts/counts.h"
#include "lab/verify/prepared_call.h"
#include "lab/verify/verify.h"
#include "tests/support/kernel_choice.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

class Mma : public testing::TestWithParam<KernelChoice> {
 protected:
  const Kernel& kernel() const { return *GetParam().kernel; }
  BlockTile block() const { return rows_of(kernel(), GetParam().variant).front().block; }
  int element_bytes() const { return size_of(kernel().types.a); }

  // Two tiles along each side, four along k; rows `pad` elements longer than they need be.
  Problem problem(const char* layout, int pad) const {
    Problem p{.m = 2 * block().m, .n = 2 * block().n, .k = 4 * block().k, .types = kernel().types};
    set_layout(p, layout);
    p = with_default_ld(p);
    p.lda += pad, p.ldb += pad, p.ldc += pad, p.ldd += pad;
    return p;
  }
};

TEST_P(Mma, OperandsComeInTheWidestPieces) {
  if (test_on_cuda()) GTEST_SKIP() << "the virtual GPU counts";
  const auto device = make_virtual_device();
  for (const char* layout : kLayouts) {
    for (int bytes = 16; bytes >= element_bytes(); bytes /= 2) {
      const int pad = bytes / element_bytes();
      const lab::CountSummary counts =
          lab::summarize(lab::count_run(*device, GetParam(), problem(layout, pad), 1, 0).counts);
      const vgpu::SharedCounts& copies = counts.memory.copies_in.shared;
      if (bytes == 2) {
        EXPECT_EQ(copies.requests, 0u) << layout;
        EXPECT_GT(counts.memory.stores.shared.requests, 0u) << layout;
        continue;
      }
      EXPECT_EQ(copies.requested_bytes, copies.lanes * bytes) << layout << ", " << bytes;
    }
  }
}

TEST_P(Mma, SharedMemoryHasNoConflicts) {
  if (test_on_cuda()) GTEST_SKIP() << "the virtual GPU counts";
  const auto device = make_virtual_device();
  for (const char* layout : kLayouts) {
    for (const int pad : {16, 1}) {
      const lab::CountSummary counts =
          lab::summarize(lab::count_run(*device, GetParam(), problem(layout, pad), 1, 0).counts);
      EXPECT_EQ(counts.memory.loads.shared.plain.excess(), 0u) << layout << ", " << pad;
      EXPECT_EQ(counts.memory.stores.shared.plain.excess(), 0u) << layout << ", " << pad;
      EXPECT_EQ(counts.memory.copies_in.shared.plain.excess(), 0u) << layout << ", " << pad;
    }
  }
}

// Bases and rows at multiples of 16, 8, 4 and 2 bytes, A and B alike or not.
TEST_P(Mma, EveryAlignmentIsRight) {
  int i = 0;
  for (const char* layout : kLayouts) {
    for (int bytes = 16; bytes >= element_bytes(); bytes /= 2) {
      const int elements = bytes / element_bytes();
      Problem p = problem(layout, elements);
      p.m -= 3 + i % 5, p.n -= 2 + i % 7, p.k -= 1 + i % 3;  // ragged; rows stay as they are
      p.ldb += i % 2 * elements;
      p.alpha = -1.5, p.beta = i % 3 - 1;
      const lab::VerifyOptions options{.nans = i % 4 == 0 ? 2 : 0,
                                       .misalign = i % 3 == 0 ? 0 : elements,
                                       .checks = !test_on_cuda()};
      const lab::VerifyResult result = lab::verify(test_device(), GetParam(), p, options);
      EXPECT_TRUE(result.ok()) << layout << ", " << bytes << " bytes: " << result.reason;
      ++i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Mma, testing::ValuesIn(choose_kernels("mma_*/all")), test_name);

// Patterns of an operand: finite numbers of any fraction, and not too far apart.
std::vector<std::uint8_t> random_operand(ElementType type, std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> bytes(count * size_of(type));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    const auto exponent = static_cast<std::uint32_t>(random() % 8);
    const std::uint32_t sign = bits >> 31;
    std::uint32_t pattern = 0;
    if (type == ElementType::kF32)
      pattern = sign << 31 | (124 + exponent) << 23 | (bits & 0x7fffff);
    if (type == ElementType::kBf16) pattern = sign << 15 | (124 + exponent) << 7 | (bits & 0x7f);
    if (type == ElementType::kF16) pattern = sign << 15 | (12 + exponent) << 10 | (bits & 0x3ff);
    std::memcpy(&bytes[i * size_of(type)], &pattern, size_of(type));
  }
  return bytes;
}

// One product a sum: nothing is rounded but operands (TF32) and D.
std::vector<std::uint8_t> outer_product(const char* kernel, const char* layout) {
  const KernelChoice choice = choose_kernels(kernel).front();
  const Types& types = choice.kernel->types;
  constexpr std::int64_t kM = 70, kN = 90;
  Problem p{.m = kM, .n = kN, .k = 1, .types = types};
  set_layout(p, layout);
  p = with_default_ld(p);
  const auto device = make_virtual_device();
  const auto upload = [&](const std::vector<std::uint8_t>& bytes) {
    DeviceBuffer buffer(*device, bytes.size());
    device->copy_in(buffer.address(), bytes.data(), bytes.size());
    return buffer;
  };
  const DeviceBuffer a = upload(random_operand(types.a, kM * p.lda, 1));
  const DeviceBuffer b = upload(random_operand(types.b, kN * p.ldb, 2));
  std::vector<std::uint8_t> d(kM * kN * size_of(types.d));
  const DeviceBuffer out(*device, d.size());
  const Operands operands{a.address(), b.address(), 0, out.address()};
  lab::PreparedCall(*device, choice, p, gemm::alignment_of(operands)).run(operands);
  device->copy_out(d.data(), out.address(), d.size());
  return d;
}

// TF32 to the nearest, D to the nearest even: conversions of the one, integer arithmetic of the
// other.
TEST(MmaAndCudaCores, RoundAlike) {
  for (const std::string type : {"bf16", "bf16_f32", "f16", "f16_f32", "tf32"}) {
    for (const char* layout : kLayouts) {
      const std::vector<std::uint8_t> by_mma = outer_product(("mma_" + type).c_str(), layout);
      const std::string without = "simt_" + type + "_sm75";
      EXPECT_EQ(by_mma, outer_product(without.c_str(), layout)) << type << ' ' << layout;
    }
  }
}

}  // namespace
}  // namespace tessera
