// A product has the same bits in every call, on every stream and at every place of a batch, by the
// kernels on tensor cores too: whole tiles, split k, repacked operands. Real numbers, whose sums
// depend on their order.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "device/buffer.h"
#include "gemm/call/multiply.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

// Uniform in [-1, 1), of a type that holds them.
DeviceBuffer filled(std::int64_t count, ElementType type, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size_of(type));
  for (std::size_t i = 0; i < bytes.size(); i += size_of(type)) {
    const double value = static_cast<double>(draw() >> 11) / (1LL << 52) - 1;
    const float rounded = static_cast<float>(value);
    std::uint32_t upper = 0;  // of a float: a BF16
    std::memcpy(&upper, &rounded, sizeof upper);
    const auto half = static_cast<_Float16>(rounded);
    const auto bf16 = static_cast<std::uint16_t>(upper >> 16);
    const void* from = type == ElementType::kF64    ? static_cast<const void*>(&value)
                       : type == ElementType::kF32  ? static_cast<const void*>(&rounded)
                       : type == ElementType::kBf16 ? static_cast<const void*>(&bf16)
                                                    : static_cast<const void*>(&half);
    std::memcpy(&bytes[i], from, size_of(type));
  }
  DeviceBuffer buffer(small_test_device(), bytes.size());
  small_test_device().copy_in(buffer.address(), bytes.data(), bytes.size());
  return buffer;
}

struct Case {
  const char* name;
  Types types;
  const char* layout;
  std::int64_t m, n, k;  // on a GPU; the virtual one takes an eighth of the large ones
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

std::int64_t scaled(std::int64_t side) { return test_on_cuda() || side < 512 ? side : side / 8; }

class Bitwise : public testing::TestWithParam<Case> {
 protected:
  Problem problem() const {
    const Case& one = GetParam();
    Problem p{.m = scaled(one.m), .n = scaled(one.n), .k = scaled(one.k), .types = one.types};
    set_layout(p, one.layout);
    return with_default_ld(p);
  }
  // What `count` products, that share their operands, leave in D.
  std::vector<std::byte> result(const Problem& p, std::int64_t count = 1) {
    const std::int64_t span = view_d(problem()).span();
    if (a_.bytes() == 0) a_ = filled(view_a(p).span(), p.types.a, 1);
    if (b_.bytes() == 0) b_ = filled(view_b(p).span(), p.types.b, 2);
    const DeviceBuffer d = filled(span * count, p.types.d, 3);
    gemm::multiply(handle_, p, {a_.address(), b_.address(), 0, d.address()});
    small_test_device().synchronize();
    std::vector<std::byte> bytes(d.bytes());
    small_test_device().copy_out(bytes.data(), d.address(), bytes.size());
    return bytes;
  }

  gemm::Handle handle_{small_test_device()};
  DeviceBuffer a_, b_;
};

TEST_P(Bitwise, EveryCallGivesTheSame) {
  const std::vector<std::byte> first = result(problem());
  EXPECT_NE(first, std::vector<std::byte>(first.size()));
  for (int i = 0; i < (test_on_cuda() ? 20 : 1); ++i) ASSERT_EQ(result(problem()), first) << i;
}

TEST_P(Bitwise, EveryPlaceOfABatchGivesTheSame) {
  constexpr std::int64_t kCount = 5;
  Problem p = problem();
  p.batch = {.kind = BatchKind::kStrided,
             .count = kCount,
             .stride_a = 0,
             .stride_b = 0,
             .stride_c = view_d(p).span(),
             .stride_d = view_d(p).span()};
  const std::vector<std::byte> all = result(p, kCount);
  const std::size_t one = all.size() / kCount;
  for (std::int64_t i = 1; i < kCount; ++i) {
    EXPECT_EQ(std::memcmp(all.data(), all.data() + i * one, one), 0) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(TensorCores, Bitwise,
                         testing::Values(Case{"Bf16", kBf16Types, "NN", 1024, 1024, 1024},
                                         Case{"Bf16SplitK", kBf16Types, "TN", 128, 128, 65536},
                                         Case{"Bf16Odd", kBf16Types, "NT", 1001, 515, 777},
                                         Case{"F16", kF16Types, "TT", 1000, 1000, 1000},
                                         Case{"Tf32AcrossK", kTf32Types, "NN", 1024, 1024, 1024},
                                         Case{"Tf32Repacked", kTf32Types, "NT", 1024, 520, 1024},
                                         Case{"F64", kF64Types, "NN", 1024, 1024, 1024},
                                         Case{"F64SplitK", kF64Types, "TN", 129, 127, 8192},
                                         Case{"F32", kF32Types, "TN", 512, 384, 256},
                                         Case{"F32Vector", kF32Types, "NT", 1, 1000, 4096}),
                         [](const testing::TestParamInfo<Case>& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace tessera
