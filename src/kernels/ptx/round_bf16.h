// Rounding to BF16 on any GPU, by integer arithmetic. HW: instructions that convert need SM 8.0.
#pragma once

#include <cstdint>

namespace tessera::ptx {

// Rounds to the nearest BF16, ties to even.
__device__ inline std::uint16_t rounded_to_bf16(float x) {
  const unsigned bits = __float_as_uint(x);
  if (x != x) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace tessera::ptx
