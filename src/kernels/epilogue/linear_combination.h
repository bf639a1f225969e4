// The linear combination D = alpha * sum + beta * C, and conversions to and from the type of D.
#pragma once

#include <cstdint>

#include "kernels/tile/accumulators.h"
#include "kernels/types/storage.h"
#include "kernels/types/stored.h"
#include "launch/params.h"

namespace tessera::epilogue {

template <ElementType out>
__device__ float load(const void* matrix, long long at) {
  return types::Storage<out>::load(matrix, at);
}

// Outputs (row, column) and (row, column + 1) of the matrix. Without `with_c` C is not read.
template <ElementType out, bool with_c>
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

template <ElementType out>
__device__ std::uint32_t packed(tile::Pair value) {
  return types::Storage<out>::packed(value.low, value.high);
}
// The same with negative values as 0.
template <ElementType out>
__device__ std::uint32_t packed_relu(tile::Pair value) {
  return types::Storage<out>::packed_relu(value.low, value.high);
}
template <ElementType out>
__device__ tile::Pair unpacked(std::uint32_t word) {
  const auto low = static_cast<std::uint16_t>(word), high = static_cast<std::uint16_t>(word >> 16);
  return {types::Storage<out>::unpacked(low), types::Storage<out>::unpacked(high)};
}

}  // namespace tessera::epilogue
