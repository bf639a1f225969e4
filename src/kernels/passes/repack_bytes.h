// The launch before a product of 8-bit operands that tensor copies or wgmma cannot read as they
// are: rows that do not begin at multiples of 16 bytes, or that are across k. Each operand is
// copied to aligned rows along `outer`, which is the k of the product.
//
// A thread copies words of four neighbours; rows across k are transposed in shared memory.
#pragma once

#include <cstdint>

#include "kernels/passes/repack_bytes_params.h"
#include "kernels/ptx/griddepcontrol.h"

namespace tessera::passes {

// Returns four neighbours of a row of `extent` bytes from index `at` on, the first one in the
// lowest byte. Bytes beyond the end of the row are 0.
__device__ inline std::uint32_t four_bytes(const std::uint8_t* row, long long at,
                                           long long extent) {
  const std::uint8_t* const from = row + at;
  if (at + 4 <= extent && reinterpret_cast<unsigned long long>(from) % 4 == 0) {
    return *reinterpret_cast<const std::uint32_t*>(from);
  }
  std::uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (at + i < extent) word |= static_cast<std::uint32_t>(from[i]) << 8 * i;
  }
  return word;
}

inline constexpr int kWordsOfBytes = kRepackBytes.outer * kRepackBytes.depth / 4 / kRepackThreads;

__device__ inline void store_word(const Repack& t, long long outer, long long k,
                                  std::uint32_t word) {
  if (k >= t.k || outer >= t.ld) return;
  *reinterpret_cast<std::uint32_t*>(static_cast<std::uint8_t*>(t.to) + k * t.ld + outer) = word;
}

// Copies rows along outer to aligned rows.
__device__ inline void align_bytes(const Repack& t, long long outer, long long k) {
  constexpr int kAcross = kRepackBytes.outer / 4;  // words
  std::uint32_t word[kWordsOfBytes];
#pragma unroll
  for (int n = 0; n < kWordsOfBytes; ++n) {
    const int i = threadIdx.x + n * kRepackThreads;
    const long long row = k + i / kAcross;
    word[n] = four_bytes(static_cast<const std::uint8_t*>(t.from) + row * t.from_k,
                         outer + i % kAcross * 4, row < t.k ? t.outer : 0);
  }
#pragma unroll
  for (int n = 0; n < kWordsOfBytes; ++n) {
    const int i = threadIdx.x + n * kRepackThreads;
    store_word(t, outer + i % kAcross * 4, k + i / kAcross, word[n]);
  }
}

// Transposes rows along k to rows along outer.
__device__ inline void transpose_bytes(const Repack& t, long long outer, long long k) {
  constexpr int kAcross = kRepackBytes.depth / 4, kDown = kRepackBytes.outer / 4;  // words
  // WHY the pitch: eight lanes that write a column of words write to eight different banks.
  __shared__ std::uint32_t tile[kRepackBytes.outer][kAcross + 1];
#pragma unroll
  for (int n = 0; n < kWordsOfBytes; ++n) {
    const int i = threadIdx.x + n * kRepackThreads;
    const long long row = outer + i / kAcross;
    tile[i / kAcross][i % kAcross] =
        four_bytes(static_cast<const std::uint8_t*>(t.from) + row * t.from_outer,
                   k + i % kAcross * 4, row < t.outer ? t.k : 0);
  }
  __syncthreads();
#pragma unroll
  for (int n = 0; n < kWordsOfBytes; ++n) {
    const int i = threadIdx.x + n * kRepackThreads, depth = i / kDown, first = i % kDown * 4;
    std::uint32_t word = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      word |= (tile[first + j][depth / 4] >> depth % 4 * 8 & 0xff) << 8 * j;
    }
    store_word(t, outer + first, k + depth, word);
  }
}

// The entry point. The grid has one CTA per tile of A, then one per tile of B.
__device__ inline void repack_bytes(const RepackParams& p) {
  ptx::launch_dependents();
  const bool is_a = blockIdx.x < p.a.tiles;
  const Repack& t = is_a ? p.a : p.b;
  const long long number = is_a ? blockIdx.x : blockIdx.x - p.a.tiles;
  const long long across = (t.outer + kRepackBytes.outer - 1) / kRepackBytes.outer;
  const long long outer = number % across * kRepackBytes.outer,
                  k = number / across * kRepackBytes.depth;
  if (t.from_k == 1 && t.from_outer != 1) {
    transpose_bytes(t, outer, k);
  } else {
    align_bytes(t, outer, k);
  }
}

}  // namespace tessera::passes
