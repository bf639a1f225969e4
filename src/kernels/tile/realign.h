// Sixteen unaligned bytes, extracted from the two aligned vectors that contain them.
#pragma once

#include <cstdint>

namespace tessera::tile {

// Returns the 16 bytes that begin `behind` elements after `low`. An Element has 2 or 4 bytes.
template <class Element>
__device__ inline uint4 realigned(uint4 low, uint4 high, int behind) {
  constexpr int kPerWord = 4 / sizeof(Element);
  static_assert(kPerWord == 1 || kPerWord == 2);
  std::uint32_t word[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int i = 0; i < 6; ++i) word[i] = behind & 2 * kPerWord ? word[i + 2] : word[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) word[i] = behind & kPerWord ? word[i + 1] : word[i];
  if constexpr (kPerWord == 2) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      word[i] = __funnelshift_r(word[i], word[i + 1], behind % 2 * 16);
    }
  }
  return {word[0], word[1], word[2], word[3]};
}

}  // namespace tessera::tile
