// One tile of 64 x 64 bf16 serves as A and as B: the product is tile * tile^T, 64 x 64. `in` holds
// tiles as a tensor copy would leave them: K-major, 128-byte swizzle, 8192 bytes each.
#pragma once

#include "kernels/ptx/fence.h"
#include "kernels/ptx/wgmma.h"
#include "kernels/ptx/wgmma_descriptor.h"
#include "kernels/ptx/wgmma_n64.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

inline constexpr std::uint32_t kTileBytes = 64 * 64 * 2;
inline constexpr int kTileFloats = kTileBytes / sizeof(float);  // as which it is copied
inline constexpr ptx::MatrixType kBf16 = ptx::MatrixType::kBF16;
inline constexpr int kSteps = 4;  // instructions along k, 16 elements each

using Sum = float[32];  // (64, 64) of a warpgroup

// What step i of the tile's k is called by wgmma.
__device__ inline std::uint64_t operand(const float* tile, int i) {
  return ptx::wgmma_descriptor(tile, ptx::kRowsOf128Bytes) + i * (32 >> 4);
}

// The threads of a warpgroup copy a tile; fence and barrier must follow.
__device__ inline void fill(float* tile, const float* in) {
  for (int i = threadIdx.x; i < kTileFloats; i += 128) tile[i] = in[i];
}

__device__ inline void store(float* out, const Sum& sum) {
  const int thread = threadIdx.x, lane = thread % 32;
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const int row = thread / 32 * 16 + lane / 4 + i / 2 % 2 * 8;
    const int column = i / 4 * 8 + lane % 4 * 2 + i % 2;
    out[row * 64 + column] = sum[i];
  }
}

}  // namespace tessera::bugs
