// Splits FP32 numbers into three BF16 numbers of 8 bits each: the upper half of the number's bits,
// the upper half of the remainder's bits, and the rest.
#pragma once

#include <cstdint>

#include "kernels/families/mixed/config.h"

namespace tessera::mixed {

inline constexpr int kOfLane = 8;  // k of a chunk that a lane holds, for each line or row

// Splits two numbers into three terms each. Word i has term i of both numbers, x in the low half;
// the highest term is first. Returns the bits that no term holds, in the lower half of the result.
__device__ inline std::uint32_t split(float x, float y, std::uint32_t (&terms)[kTerms]) {
  constexpr unsigned kUpper = 0xffff0000u, kUpperHalves = 0x7632;
#pragma unroll
  for (int i = 0; i < kTerms; ++i) {
    const unsigned of_x = __float_as_uint(x), of_y = __float_as_uint(y);
    terms[i] = __byte_perm(of_x, of_y, kUpperHalves);
    if (i == kTerms - 1) return of_x | of_y;
    x -= __uint_as_float(of_x & kUpper);
    y -= __uint_as_float(of_y & kUpper);
  }
  return 0;
}

// The terms of 16 rows of FP32 in one chunk of k, as MMA fragments.
struct Terms {
  std::uint32_t of[kTerms][kChunk / 16][4];
};

// Splits a lane's numbers of a row and puts the terms into fragments; `upper`: rows 8 to 15.
__device__ inline void cut(Terms& terms, int upper, const float (&x)[kOfLane],
                           std::uint32_t& lost) {
#pragma unroll
  for (int pair = 0; pair < kOfLane / 2; ++pair) {
    std::uint32_t words[kTerms];
    lost |= split(x[2 * pair], x[2 * pair + 1], words);
#pragma unroll
    for (int term = 0; term < kTerms; ++term) {
      terms.of[term][pair / 2][pair % 2 * 2 + upper] = words[term];
    }
  }
}

}  // namespace tessera::mixed
