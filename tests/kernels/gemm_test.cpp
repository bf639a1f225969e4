// Whole kernels of the kinds that the library is made of: Ampere's cp.async and mma, FP64 tensor
// cores, Hopper's tensor copies and wgmma. Right on ragged shapes, whatever the schedule, and clean
// under all checks. They run on a real GPU as well.
#include <gtest/gtest.h>

#include <bit>
#include <ctime>
#include <iostream>

#include "tests/kernels/run_kernel.h"
#include "tests/support/test_device.h"

namespace tessera {
namespace {

struct Shape {
  int m, n, k;
};

enum class Type { kBf16, kF64 };  // of A and B; C is f32 or f64

struct Gemm {
  std::string image, entry;
  Type type = Type::kBf16;
  int block = 128;  // outputs of a thread block, both ways
  int threads = 256;
  // Of Hopper's: tensor maps instead of pointers, and thread blocks that stand above each other.
  int shared_bytes = 0;
  bool tensor_maps = false;
  int cluster = 1;
};

void PrintTo(const Gemm& gemm, std::ostream* out) { *out << gemm.entry; }

int blocks_of(int extent, int block) { return (extent + block - 1) / block; }

// Small integers: every sum is exact in every order.
std::vector<double> numbers(int rows, int columns, int seed) {
  std::vector<double> x;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) x.push_back((i * 3 + j * 7 + i * j + seed) % 5 - 2);
  }
  return x;
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, Shape s) {
  std::vector<double> c(static_cast<std::size_t>(s.m) * s.n);
  for (int i = 0; i < s.m; ++i) {
    for (int j = 0; j < s.n; ++j) {
      for (int l = 0; l < s.k; ++l) c[i * s.n + j] += a[i * s.k + l] * b[j * s.k + l];
    }
  }
  return c;
}

Bytes operand_bytes(const std::vector<double>& values, Type type) {
  if (type == Type::kF64) return bytes_of(values);
  std::vector<std::uint16_t> narrow;
  for (const double x : values) {
    narrow.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16);
  }
  return bytes_of(narrow);
}

Bytes result_bytes(const std::vector<double>& values, Type type) {
  if (type == Type::kF64) return bytes_of(values);
  return bytes_of(std::vector<float>(values.begin(), values.end()));
}

struct Pointers {
  DeviceAddress a, b, c;
};

struct Arguments {
  Pointers matrices;
  Shape shape;
};

// A row-major matrix, in boxes 128 bytes wide with the 128-byte swizzle.
TensorMapBytes tensor_map(Device& device, DeviceAddress matrix, TensorType type, int rows,
                          int columns, int box_rows) {
  const int bytes = static_cast<int>(element_bytes(type));
  TensorMapDesc desc;
  desc.type = type;
  desc.address = matrix;
  desc.sizes = {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows)};
  desc.strides = {static_cast<std::uint64_t>(columns) * bytes};
  desc.box = {static_cast<std::uint32_t>(128 / bytes), static_cast<std::uint32_t>(box_rows)};
  desc.swizzle = TensorSwizzle::k128B;
  return device.encode_tensor_map(desc);
}

Launch launch_of(Device& device, const Gemm& gemm, Shape s, const Pointers& matrices) {
  Launch launch;
  launch.entry = gemm.entry;
  launch.shape.block = gemm.threads;
  launch.shape.shared_bytes = gemm.shared_bytes;
  const int tiles_m = blocks_of(s.m, gemm.block * gemm.cluster) * gemm.cluster;
  launch.shape.grid = tiles_m * blocks_of(s.n, gemm.block);
  Params params;
  if (gemm.tensor_maps) {
    const auto [a, b, c] = matrices;
    params.add(tensor_map(device, a, TensorType::kBf16, s.m, s.k, 128))
        .add(tensor_map(device, b, TensorType::kBf16, s.n, s.k, 128 / gemm.cluster))
        .add(tensor_map(device, c, TensorType::kF32, s.m, s.n, 64))
        .add(s);
  } else {
    params.add(Arguments{matrices, s});
  }
  params.pass_to(launch);
  return launch;
}

struct Outcome {
  Bytes c;
  std::vector<vgpu::Finding> findings;
};

Outcome run(Device& device, const Gemm& gemm, Shape s, const vgpu::Observation& observation) {
  const DeviceBytes a(device, operand_bytes(numbers(s.m, s.k, 0), gemm.type));
  const DeviceBytes b(device, operand_bytes(numbers(s.n, s.k, 1), gemm.type));
  const std::vector<double> nothing(static_cast<std::size_t>(s.m) * s.n, -1);
  const DeviceBytes c(device, result_bytes(nothing, gemm.type));
  const Launch launch = launch_of(device, gemm, s, {a.address(), b.address(), c.address()});
  device.observe(observation);
  Outcome outcome;
  outcome.findings = launch_and_check(device, device.load(kernel_image(gemm.image)), launch);
  outcome.c = c.read();
  return outcome;
}

const Gemm kHopper{.image = "hopper_gemm",
                   .entry = "hopper_gemm",
                   .threads = 384,
                   .shared_bytes = 197632,
                   .tensor_maps = true};

Gemm multicast() {
  Gemm gemm = kHopper;
  gemm.entry = "hopper_gemm_multicast";
  gemm.cluster = 2;
  return gemm;
}

class GemmKernel : public testing::TestWithParam<Gemm> {};

TEST_P(GemmKernel, IsRightAndCleanInEverySchedule) {
  if (!can_run_kernels(test_device())) GTEST_SKIP() << "kernels for sm_90a";
  const Shape shape{150, 136, 328};  // no whole tiles, and more of them than stages
  const Bytes expected = result_bytes(
      product(numbers(shape.m, shape.k, 0), numbers(shape.n, shape.k, 1), shape), GetParam().type);
  for (const vgpu::Observation& observation : checked_schedules()) {
    const Outcome outcome = run(test_device(), GetParam(), shape, observation);
    ASSERT_EQ(described(outcome.findings), "") << name_of(observation);
    ASSERT_TRUE(outcome.c == expected) << name_of(observation);
    if (test_on_cuda()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(All, GemmKernel,
                         testing::Values(Gemm{"ampere_gemm", "ampere_gemm"},
                                         Gemm{"fp64_gemm", "fp64_gemm", Type::kF64, 64, 128},
                                         kHopper, multicast()),
                         [](const testing::TestParamInfo<Gemm>& info) { return info.param.entry; });

double seconds_of_512(const vgpu::Observation& observation) {
  const std::unique_ptr<Device> device = make_virtual_device({.host_threads = 1});
  const std::clock_t begin = std::clock();
  run(*device, kHopper, {512, 512, 512}, observation);
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// The aim is half a second without checks; the bound leaves room for slow hosts.
TEST(GemmSpeed, OfHopperOnOneCore) {
  if (test_on_cuda()) GTEST_SKIP() << "of the virtual GPU";
  const double plain = seconds_of_512({}), checked = seconds_of_512({.checks = true});
  std::cout << "hopper_gemm at 512 x 512 x 512: " << plain << " s, with all checks " << checked
            << " s\n";
  EXPECT_LT(plain, 2.0);
}

}  // namespace
}  // namespace tessera
