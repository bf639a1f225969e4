// A kernel that writes what it may only read of an epilogue is refused, though its D is right.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/passes/finish_params.h"
#include "lab/verify/verify.h"
#include "tests/lab/timing/fake_device.h"

namespace tessera::lab {
namespace {

enum class Written { kNothing, kScale, kBias };

// Finishes D with a scale and a bias per column; afterwards it may add 1 to the first of them.
class FinishingDevice : public FakeDevice {
 public:
  explicit FinishingDevice(Written written) : FakeDevice(DeviceKind::kCuda), written_(written) {}

  void launch(const LoadedEntry& loaded, const LaunchShape& shape,
              std::span<const std::byte> params, std::span<const std::size_t> maps,
              void* stream) const override {
    FakeDevice::launch(loaded, shape, params, maps, stream);
    if (params.size() == sizeof(passes::FinishParams)) finish(params);
  }

 private:
  void finish(std::span<const std::byte> params) const {
    passes::FinishParams p;
    std::memcpy(&p, params.data(), sizeof p);
    auto* const scale = static_cast<float*>(const_cast<void*>(p.finish.scale.values));
    auto* const bias = static_cast<float*>(const_cast<void*>(p.finish.bias.values));
    for (int product = 0; product < p.batch.count; ++product) {
      float* const d = static_cast<float*>(p.gemm.d) + product * p.batch.d / 4;
      for (long long i = 0; i < p.gemm.m; ++i) {
        for (long long j = 0; j < p.gemm.n; ++j) {
          float& value = d[i * p.gemm.d_row + j];
          value = scale[j] * value + bias[j];
        }
      }
    }
    if (written_ == Written::kScale) ++scale[0];
    if (written_ == Written::kBias) ++bias[0];
  }

  Written written_;
};

std::string reason_of(Written written, std::int64_t products) {
  Problem problem{20, 12, 16, kF32Types, Order::kRowMajor};
  problem.epilogue = {.scale = VectorKind::kPerColumn, .bias = VectorKind::kPerColumn};
  if (products > 1) {
    problem.batch = {.kind = BatchKind::kStrided,
                     .count = products,
                     .stride_a = 320,
                     .stride_b = 192,
                     .stride_c = 240,
                     .stride_d = 240};
  }
  FinishingDevice device(written);
  const Kernel kernel = fake_kernel(kF32Types);
  return verify(device, {&kernel, "only"}, with_default_ld(problem)).reason;
}

TEST(VerifyVectors, AreInputs) {
  for (const std::int64_t products : {1, 3}) {
    EXPECT_EQ(reason_of(Written::kNothing, products), "");
    EXPECT_EQ(reason_of(Written::kScale, products),
              "integers: the scale is an input and was written, at (0, 0)");
    EXPECT_EQ(reason_of(Written::kBias, products),
              "integers: the bias is an input and was written, at (0, 0)");
  }
}

}  // namespace
}  // namespace tessera::lab
