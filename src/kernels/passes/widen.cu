// The launch before a product of a BF16 matrix with an FP32 matrix, if no kernel reads both types.
// It converts the BF16 operand to FP32, exactly and in the same layout. NaN keeps its bits.
//
// A thread converts eight neighbours of a line at a time: with one aligned load if the line is
// aligned, else with two loads and a shift, and with two aligned stores.
#include <cstdint>

#include "kernels/passes/repack_halves.h"
#include "kernels/passes/widen_params.h"

namespace tessera::passes {

__device__ inline const std::uint16_t* source_of(const WidenParams& p, long long product) {
  if (p.addresses) return static_cast<const std::uint16_t* const*>(p.from)[product];
  return static_cast<const std::uint16_t*>(p.from) + product * p.from_product;
}

// Loads eight neighbours without conversion; elements beyond the end of the line are zeros.
__device__ inline uint4 eight_of(const HalfWindow& window) {
  if (!window.is_inside()) return {window.pair(0), window.pair(2), window.pair(4), window.pair(6)};
  const int behind = window.behind();
  const uint4* aligned = reinterpret_cast<const uint4*>(window.row + window.at - behind);
  const uint4 low = aligned[0];
  return behind == 0 ? low : tile::realigned<std::uint16_t>(low, aligned[1], behind);
}

// The two BF16 elements of a pair as floats.
__device__ inline float low_of(std::uint32_t pair) { return __uint_as_float(pair << 16); }
__device__ inline float high_of(std::uint32_t pair) { return __uint_as_float(pair & 0xffff0000u); }

__device__ inline void widen_eight(const WidenParams& p, const HalfWindow& window, float* to) {
  const uint4 x = eight_of(window);
  if (window.at + kWidenTogether <= p.to_line && p.to_line % 4 == 0) {
    float4* const fours = reinterpret_cast<float4*>(to + window.at);
    fours[0] = {low_of(x.x), high_of(x.x), low_of(x.y), high_of(x.y)};
    fours[1] = {low_of(x.z), high_of(x.z), low_of(x.w), high_of(x.w)};
    return;
  }
  const std::uint32_t pairs[] = {x.x, x.y, x.z, x.w};
#pragma unroll
  for (int i = 0; i < kWidenTogether; ++i) {
    if (window.at + i >= p.length) continue;
    to[window.at + i] = i % 2 == 0 ? low_of(pairs[i / 2]) : high_of(pairs[i / 2]);
  }
}

// The entry point. The grid's threads share the lines of all products, in groups of 8 elements.
__device__ inline void widen(const WidenParams& p) {
  const long long eights = (p.length + kWidenTogether - 1) / kWidenTogether;
  const long long of_product = p.lines * eights, all = of_product * p.products;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (p.addresses) {
    for (long long i = first; i < p.products; i += step) {
      static_cast<float**>(p.addresses)[i] = p.to + i * p.to_product;
    }
  }
  for (long long i = first; i < all; i += step) {
    const long long product = i / of_product, inside = i - product * of_product;
    const long long line = inside / eights, at = (inside - line * eights) * kWidenTogether;
    const HalfWindow window{source_of(p, product) + line * p.from_line, at, p.length};
    widen_eight(p, window, p.to + product * p.to_product + line * p.to_line);
  }
}

}  // namespace tessera::passes
