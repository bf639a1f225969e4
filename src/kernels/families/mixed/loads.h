// How a lane reads its part of a chunk of k: of a BF16 matrix that lies along k, along its lines or
// in any other way, and of rows of FP32.
//
// Lane 4g + t of a warp holds k = 8t ... 8t+7 of each chunk, of lines g and g + 8 of each fragment.
// The instruction numbers its k otherwise, but both operands alike.
#pragma once

#include <cstdint>

#include "kernels/families/mixed/config.h"
#include "kernels/families/mixed/params.h"
#include "kernels/schedule/product_of.h"

namespace tessera::mixed {

inline constexpr int kPieces = kLines / 16;  // fragments of lines of a warp
inline constexpr int kOfLane = 8;            // of a chunk's k
inline constexpr int kPitch = kLines + 1;    // of a column of sums

// One product. WHY the sizes stay among the parameters: those are no registers.
struct Matrices {
  const Params& p;
  const std::uint16_t* narrow;
  const float* wide;
};

__device__ inline Matrices matrices_of(const Params& p, const schedule::Addresses& at) {
  const bool is_a = p.bf16_is_a != 0;
  return {p, static_cast<const std::uint16_t*>(is_a ? at.a : at.b),
          static_cast<const float*>(is_a ? at.b : at.a)};
}

// The place of a fragment's line among those of the warp.
__device__ inline int line_of(int piece, int half, int group, int loads) {
  return loads == kAlongLines ? 4 * group + 2 * piece + half : 16 * piece + 8 * half + group;
}

// One chunk of k on its way: 32 lines of BF16, pairs of them, and the rows of FP32.
template <int columns>
struct Chunk {
  std::uint32_t narrow[kPieces * 2 * kOfLane / 2];
  float wide[columns / kColumns][kOfLane];
};

// Four neighbours across k, of lines that are all there; zeros beyond the end of k.
__device__ inline uint2 load_across(const Matrices& m, long long line, long long k) {
  if (k >= m.p.gemm.k) return {0, 0};
  return __ldg(reinterpret_cast<const uint2*>(m.narrow + line + k * m.p.narrow_k));
}

// Pairs along k of one line, one element at a time.
__device__ inline std::uint32_t load_pair(const Matrices& m, long long line, long long k) {
  const std::uint16_t* const from = m.narrow + line * m.p.narrow_line + k * m.p.narrow_k;
  const std::uint32_t low = k < m.p.gemm.k ? __ldg(from) : 0;
  const std::uint32_t high = k + 1 < m.p.gemm.k ? __ldg(from + m.p.narrow_k) : 0;
  return low | high << 16;
}

// One chunk of a warp's lines, in the form in which whole chunks come.
template <int words>
__device__ void load_narrow(std::uint32_t (&to)[words], const Matrices& m, long long first,
                            long long k, int group, int loads) {
#pragma unroll
  for (int i = 0; i < kOfLane; ++i) {
    if (loads == kAlongLines) {
      const uint2 x = load_across(m, first + 4 * group, k + i);
      to[2 * i] = x.x, to[2 * i + 1] = x.y;
    } else {
      const long long wanted = first + 8 * (i / 2) + group;
      const long long line =
          wanted < m.p.lines ? wanted : m.p.lines - 1;  // of which no sum is stored
      to[2 * i] = load_pair(m, line, k + 4 * (i % 2));
      to[2 * i + 1] = load_pair(m, line, k + 4 * (i % 2) + 2);
    }
  }
}

template <int count>
__device__ void load_wide(float (&to)[count][kOfLane], const Matrices& m, long long first,
                          long long k, int group) {
#pragma unroll
  for (int c = 0; c < count; ++c) {
    const long long wanted = first + c * kColumns + group;
    const long long row = wanted < m.p.rows ? wanted : m.p.rows - 1;
    const float* const from = m.wide + row * m.p.wide_row + k * m.p.wide_k;
#pragma unroll
    for (int i = 0; i < kOfLane; ++i)
      to[c][i] = k + i < m.p.gemm.k ? __ldg(from + i * m.p.wide_k) : 0;
  }
}

// What came across k, as pairs along k: those of line (piece, half) in four words side by side.
template <int words>
__device__ void pair_along_k(std::uint32_t (&x)[words]) {
  std::uint32_t pairs[words];
#pragma unroll
  for (int i = 0; i < kPieces * 2; ++i) {
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
      pairs[4 * i + pair] =
          __byte_perm(x[4 * pair + i / 2], x[4 * pair + 2 + i / 2], i % 2 == 0 ? 0x5410 : 0x7632);
    }
  }
#pragma unroll
  for (int i = 0; i < words; ++i) x[i] = pairs[i];
}

// The place of a warp's work: its first line and row, and the chunks `first`, `first` + `step`, ...
struct Share {
  long long line, row;
  int first, step;
};

// What each lane reads of whole chunks of a warp whose lines are all there.
// WHY apart from loads that check: with those in the loop, addresses took the registers of stages.
template <int columns, bool is_across, bool wide_is_along_k>
struct WholeChunks {
  const std::uint16_t* narrow;
  const float* wide[columns / kColumns];
  long long narrow_step, wide_step;  // elements from chunk to chunk of the warp
  long long narrow_pitch;            // between lines, or along k
  long long wide_k;

  __device__ WholeChunks(const Matrices& m, const Share& share)
      : narrow_step(share.step * kChunk * m.p.narrow_k),
        wide_step(share.step * kChunk * m.p.wide_k),
        narrow_pitch(is_across ? m.p.narrow_k : 8 * m.p.narrow_line),
        wide_k(m.p.wide_k) {
    const int group = threadIdx.x % 32 / 4;
    const long long k = static_cast<long long>(share.first) * kChunk + threadIdx.x % 4 * kOfLane;
    const long long line = share.line + (is_across ? 4 * group : group);
    narrow = m.narrow + line * m.p.narrow_line + k * m.p.narrow_k;
#pragma unroll
    for (int c = 0; c < columns / kColumns; ++c) {
      const long long wanted = share.row + c * kColumns + group;
      const long long row = wanted < m.p.rows ? wanted : m.p.rows - 1;  // of which no sum is stored
      wide[c] = m.wide + row * m.p.wide_row + k * m.p.wide_k;
    }
  }

  __device__ void load(Chunk<columns>& to) {
    load_narrow(to.narrow);
    load_wide(to.wide);
  }
  template <int words>
  __device__ void load_narrow(std::uint32_t (&to)[words]) {
    if constexpr (is_across) {
#pragma unroll
      for (int i = 0; i < kOfLane; ++i) {
        const auto x = __ldg(reinterpret_cast<const uint2*>(narrow + i * narrow_pitch));
        to[2 * i] = x.x, to[2 * i + 1] = x.y;
      }
    } else {
#pragma unroll
      for (int i = 0; i < kPieces * 2; ++i) {
        const auto x = __ldg(reinterpret_cast<const uint4*>(narrow + i * narrow_pitch));
        to[4 * i] = x.x, to[4 * i + 1] = x.y;
        to[4 * i + 2] = x.z, to[4 * i + 3] = x.w;
      }
    }
    narrow += narrow_step;
  }
  __device__ void load_wide(float (&to)[columns / kColumns][kOfLane]) {
#pragma unroll
    for (int c = 0; c < columns / kColumns; ++c) {
      if constexpr (wide_is_along_k) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float4 x = __ldg(reinterpret_cast<const float4*>(wide[c]) + half);
          to[c][4 * half] = x.x, to[c][4 * half + 1] = x.y;
          to[c][4 * half + 2] = x.z, to[c][4 * half + 3] = x.w;
        }
      } else {
#pragma unroll
        for (int i = 0; i < kOfLane; ++i) to[c][i] = __ldg(wide[c] + i * wide_k);
      }
      wide[c] += wide_step;
    }
  }
};

}  // namespace tessera::mixed
