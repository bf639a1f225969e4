// The whole kernels of tests/kernels/gemm/ and their launches, for tests and for
// tests/tools/observer_cost.
#pragma once

#include <string>
#include <vector>

#include "tests/kernels/run_kernel.h"

namespace tessera {

struct GemmShape {
  int m, n, k;
};

enum class GemmType { kBf16, kF64 };  // of A and B; C is f32 or f64

struct Gemm {
  std::string image, entry;
  GemmType type = GemmType::kBf16;
  int block = 128;  // outputs of a thread block, both ways
  int threads = 256;
  // Only for Hopper: tensor maps instead of pointers, and clusters of blocks in one tile column.
  int shared_bytes = 0;
  bool tensor_maps = false;
  int cluster = 1;
};

// Tensor copies and wgmma; multicast: by clusters of two.
Gemm hopper_gemm();
Gemm hopper_gemm_multicast();

struct GemmOutcome {
  Bytes c;
  std::vector<vgpu::Finding> findings;
};

// C = A B^T of small integers, whose sums are exact in every order.
GemmOutcome run_gemm(Device& device, const Gemm& gemm, GemmShape shape,
                     const vgpu::Observation& observation);
Bytes expected_of(const Gemm& gemm, GemmShape shape);

}  // namespace tessera
