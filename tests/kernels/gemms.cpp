#include "tests/kernels/gemms.h"

#include <bit>

namespace tessera {
namespace {

int blocks_of(int extent, int block) { return (extent + block - 1) / block; }

// Small integers: every sum is exact in every order.
std::vector<double> numbers(int rows, int columns, int seed) {
  std::vector<double> x;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) x.push_back((i * 3 + j * 7 + i * j + seed) % 5 - 2);
  }
  return x;
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b,
                            GemmShape s) {
  std::vector<double> c(static_cast<std::size_t>(s.m) * s.n);
  for (int i = 0; i < s.m; ++i) {
    for (int j = 0; j < s.n; ++j) {
      for (int l = 0; l < s.k; ++l) c[i * s.n + j] += a[i * s.k + l] * b[j * s.k + l];
    }
  }
  return c;
}

Bytes operand_bytes(const std::vector<double>& values, GemmType type) {
  if (type == GemmType::kF64) return bytes_of(values);
  std::vector<std::uint16_t> narrow;
  for (const double x : values) {
    narrow.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16);
  }
  return bytes_of(narrow);
}

Bytes result_bytes(const std::vector<double>& values, GemmType type) {
  if (type == GemmType::kF64) return bytes_of(values);
  return bytes_of(std::vector<float>(values.begin(), values.end()));
}

struct Pointers {
  DeviceAddress a, b, c;
};

struct Arguments {
  Pointers matrices;
  GemmShape shape;
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

Launch launch_of(Device& device, const Gemm& gemm, GemmShape s, const Pointers& matrices) {
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

}  // namespace

Gemm hopper_gemm() {
  return {.image = "hopper_gemm",
          .entry = "hopper_gemm",
          .threads = 384,
          .shared_bytes = 197632,
          .tensor_maps = true};
}

Gemm hopper_gemm_multicast() {
  Gemm gemm = hopper_gemm();
  gemm.entry = "hopper_gemm_multicast";
  gemm.cluster = 2;
  return gemm;
}

GemmOutcome run_gemm(Device& device, const Gemm& gemm, GemmShape s,
                     const vgpu::Observation& observation) {
  const DeviceBytes a(device, operand_bytes(numbers(s.m, s.k, 0), gemm.type));
  const DeviceBytes b(device, operand_bytes(numbers(s.n, s.k, 1), gemm.type));
  const std::vector<double> nothing(static_cast<std::size_t>(s.m) * s.n, -1);
  const DeviceBytes c(device, result_bytes(nothing, gemm.type));
  const Launch launch = launch_of(device, gemm, s, {a.address(), b.address(), c.address()});
  observe(device, observation);
  GemmOutcome outcome;
  outcome.findings = launch_and_check(device, device.load(kernel_image(gemm.image)), launch);
  outcome.c = c.read();
  return outcome;
}

Bytes expected_of(const Gemm& gemm, GemmShape s) {
  return result_bytes(product(numbers(s.m, s.k, 0), numbers(s.n, s.k, 1), s), gemm.type);
}

}  // namespace tessera
