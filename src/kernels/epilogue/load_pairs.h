// Loads pairs of neighbours in a row, eight columns apart, in the layout of a lane's sums. All
// loads are in flight at the same time.
#pragma once

#include <cstdint>

#include "kernels/epilogue/linear_combination.h"

namespace tessera::epilogue {

// Returns the first `there` elements of a pair, else zeros. `there` may be below 0 or above 2.
__device__ inline std::uint32_t pair_at(const std::uint16_t* from, int there) {
  return (there > 0 ? from[0] : 0) | (there > 1 ? from[1] : 0) << 16;
}
__device__ inline float2 pair_at(const float* from, int there) {
  return {there > 0 ? from[0] : 0, there > 1 ? from[1] : 0};
}

__device__ inline int2 pair_at(const std::int32_t* from, int there) {
  return {there > 0 ? from[0] : 0, there > 1 ? from[1] : 0};
}

template <ElementType out>
__device__ tile::Pair unpacked(float2 pair) {
  return {pair.x, pair.y};
}
template <ElementType out>
__device__ tile::PairOf<std::int32_t> unpacked(int2 pair) {
  return {pair.x, pair.y};
}

// `there` is the number of elements in the row from `from` on. `aligned`: pairs are aligned.
template <class Pair, class Element, int count>
__device__ void load_pairs(Pair (&pairs)[count], const Element* from, int there, bool aligned) {
  static_assert(sizeof(Pair) == 2 * sizeof(Element));
  if (aligned && there >= 8 * (count - 1) + 2) {
#pragma unroll
    for (int i = 0; i < count; ++i) pairs[i] = *reinterpret_cast<const Pair*>(from + 8 * i);
  } else {
#pragma unroll
    for (int i = 0; i < count; ++i) pairs[i] = pair_at(from + 8 * i, there - 8 * i);
  }
}

}  // namespace tessera::epilogue
