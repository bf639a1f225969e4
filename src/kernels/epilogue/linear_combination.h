// What becomes of a sum on its way out: D = alpha * sum + beta * C.
#pragma once

#include <cstdint>

#include "kernels/epilogue/out.h"
#include "kernels/ptx/convert.h"
#include "kernels/tile/accumulators.h"
#include "launch/params.h"

namespace tessera::epilogue {

template <Out out>
__device__ float load(const void* matrix, long long at) {
  if constexpr (out == Out::kF32) return static_cast<const float*>(matrix)[at];
  const std::uint16_t bits = static_cast<const std::uint16_t*>(matrix)[at];
  return out == Out::kBF16 ? ptx::from_bf16(bits) : ptx::from_f16(bits);
}

// Outputs (row, column) and (row, column + 1) of the matrix. Without `with_c` C is not read.
template <Out out, bool with_c>
__device__ tile::Pair combine(const GemmParams& p, tile::Pair sum, long long row,
                              long long column) {
  const float alpha = static_cast<float>(p.alpha);
  tile::Pair value{alpha * sum.low, alpha * sum.high};
  if constexpr (with_c) {
    const float beta = static_cast<float>(p.beta);
    const long long at = row * p.c_row + column;
    if (row < p.m && column < p.n) value.low += beta * load<out>(p.c, at);
    if (row < p.m && column + 1 < p.n) value.high += beta * load<out>(p.c, at + 1);
  }
  return value;
}

template <Out out>
__device__ std::uint32_t packed(tile::Pair value) {
  static_assert(out != Out::kF32);
  return out == Out::kBF16 ? ptx::to_bf16x2(value.low, value.high)
                           : ptx::to_f16x2(value.low, value.high);
}
// The same with negative values as 0.
template <Out out>
__device__ std::uint32_t packed_relu(tile::Pair value) {
  static_assert(out != Out::kF32);
  return out == Out::kBF16 ? ptx::relu_to_bf16x2(value.low, value.high)
                           : ptx::relu_to_f16x2(value.low, value.high);
}
template <Out out>
__device__ tile::Pair unpacked(std::uint32_t word) {
  static_assert(out != Out::kF32);
  const auto low = static_cast<std::uint16_t>(word), high = static_cast<std::uint16_t>(word >> 16);
  if constexpr (out == Out::kBF16) return {ptx::from_bf16(low), ptx::from_bf16(high)};
  return {ptx::from_f16(low), ptx::from_f16(high)};
}

}  // namespace tessera::epilogue
