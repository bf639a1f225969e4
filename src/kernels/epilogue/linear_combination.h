// The linear combination D = alpha * sum + beta * C, and conversions to and from the type of D.
#pragma once

#include <cstdint>
#include <cuda/std/type_traits>

#include "kernels/tile/accumulators.h"
#include "kernels/types/storage.h"
#include "kernels/types/stored.h"
#include "launch/params.h"

namespace tessera::epilogue {

template <ElementType out>
using SumOf = typename types::Storage<out>::Sum;

template <ElementType out>
__device__ SumOf<out> load(const void* matrix, long long at) {
  return types::Storage<out>::load(matrix, at);
}

// Returns alpha * sum. Integers wrap modulo 2^32, like the integer sums of wgmma.
template <class Sum>
__device__ Sum scaled(Sum alpha, Sum sum) {
  if constexpr (cuda::std::is_integral_v<Sum>) {
    return static_cast<Sum>(static_cast<std::uint32_t>(alpha) * static_cast<std::uint32_t>(sum));
  } else {
    return alpha * sum;
  }
}
// Returns alpha * sum + beta * c.
template <class Sum>
__device__ Sum combined(Sum alpha, Sum sum, Sum beta, Sum c) {
  if constexpr (cuda::std::is_integral_v<Sum>) {
    return static_cast<Sum>(static_cast<std::uint32_t>(scaled(alpha, sum)) +
                            static_cast<std::uint32_t>(scaled(beta, c)));
  } else {
    return alpha * sum + beta * c;
  }
}

// Returns outputs (row, column) and (row, column + 1) of D. Without `with_c`, C is not read.
template <ElementType out, bool with_c>
__device__ tile::PairOf<SumOf<out>> combine(const GemmParams& p, tile::PairOf<SumOf<out>> sum,
                                            long long row, long long column) {
  using Sum = SumOf<out>;
  const auto alpha = static_cast<Sum>(p.alpha);
  tile::PairOf<Sum> value{scaled(alpha, sum.low), scaled(alpha, sum.high)};
  if constexpr (with_c) {
    const auto beta = static_cast<Sum>(p.beta);
    const long long at = row * p.c_row + column;
    const auto add_c = [&](Sum& to, long long i) {
      to = combined(Sum{1}, to, beta, load<out>(p.c, i));
    };
    if (row < p.m && column < p.n) add_c(value.low, at);
    if (row < p.m && column + 1 < p.n) add_c(value.high, at + 1);
  }
  return value;
}

template <ElementType out>
__device__ std::uint32_t packed(tile::Pair value) {
  return types::Storage<out>::packed(value.low, value.high);
}
// Converts a pair to the type of D, with negative values as 0.
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
