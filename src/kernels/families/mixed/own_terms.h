// Computes the sums of a warp that itself splits the FP32 numbers of its chunks into terms.
#pragma once

#include "kernels/families/mixed/products.h"

namespace tessera::mixed {

// A chunk of k that is being loaded.
template <auto cfg>
struct OwnChunk {
  NarrowChunk<cfg.lines> narrow;
  float wide[cfg.rows / 8][kOfLane];  // rows g, g + 8, ...
};

template <auto cfg>
__device__ void multiply_own(Sums<cfg>& sums, OwnChunk<cfg>& chunk, bool is_across,
                             std::uint32_t& lost) {
  if (is_across) pair_along_k(chunk.narrow);
  multiply<cfg>(sums, chunk.narrow, [&](int rows) {
    Terms terms = {};
#pragma unroll
    for (int upper = 0; upper < 2 && 2 * rows + upper < cfg.rows / 8; ++upper) {
      cut(terms, upper, chunk.wide[2 * rows + upper], lost);
    }
    return terms;
  });
}

// Loads whole chunks of FP32 rows, one after the other.
template <auto cfg, bool is_along_k>
struct WideSource {
  const float* at[cfg.rows / 8];
  long long step, pitch;  // elements to the next chunk, and along k

  __device__ WideSource(const Matrices& m, const Share& share)
      : step(share.step * kChunk * m.p.wide_k), pitch(m.p.wide_k) {
    const long long k = static_cast<long long>(share.first) * kChunk + threadIdx.x % 4 * kOfLane;
#pragma unroll
    for (int c = 0; c < cfg.rows / 8; ++c) {
      at[c] = wide_row(m, share.row + c * 8 + threadIdx.x % 32 / 4) + k * pitch;
    }
  }

  __device__ void load(float (&to)[cfg.rows / 8][kOfLane]) {
#pragma unroll
    for (int c = 0; c < cfg.rows / 8; ++c) {
      if constexpr (is_along_k) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float4 x = __ldg(reinterpret_cast<const float4*>(at[c]) + half);
          to[c][4 * half] = x.x, to[c][4 * half + 1] = x.y;
          to[c][4 * half + 2] = x.z, to[c][4 * half + 3] = x.w;
        }
      } else {
#pragma unroll
        for (int i = 0; i < kOfLane; ++i) to[c][i] = __ldg(at[c] + i * pitch);
      }
      at[c] += step;
    }
  }
};

// Adds the products of whole chunks to the sums of one warp. TRIED (H200, 8 rows of
// 131072 x 4096 lines): copies to shared memory, four chunks ahead, as in shared_terms.h:
// slower.
template <auto cfg, bool is_across, bool wide_is_along_k>
__device__ void multiply_whole(Sums<cfg>& sums, const Matrices& m, const Share& share,
                               std::uint32_t& lost) {
  const int chunks = static_cast<int>(m.p.gemm.k / kChunk);
  NarrowSource<cfg.lines, is_across> narrow(m, share.line,
                                            static_cast<long long>(share.first) * kChunk);
  WideSource<cfg, wide_is_along_k> wide(m, share);
  OwnChunk<cfg> ring[cfg.loads];
  const auto load = [&](OwnChunk<cfg>& to) {
    narrow.load(to.narrow);
    narrow.at += share.step * kChunk * m.p.narrow_k;
    wide.load(to.wide);
  };
#pragma unroll
  for (int slot = 0; slot < cfg.loads; ++slot) {
    if (share.first + slot * share.step < chunks) load(ring[slot]);
  }
#pragma unroll 1
  for (int chunk = share.first; chunk < chunks; chunk += cfg.loads * share.step) {
#pragma unroll
    for (int slot = 0; slot < cfg.loads; ++slot) {
      const int here = chunk + slot * share.step;
      if (here >= chunks) break;
      multiply_own<cfg>(sums, ring[slot], is_across, lost);
      if (here + cfg.loads * share.step < chunks) load(ring[slot]);
    }
  }
}

// Like multiply_whole, for chunks from `first` on, by loads that check for the end of lines and k.
template <auto cfg>
__device__ void multiply_checked(Sums<cfg>& sums, const Matrices& m, const Share& share, int loads,
                                 std::uint32_t& lost) {
  const int group = threadIdx.x % 32 / 4;
  const int chunks = static_cast<int>((m.p.gemm.k + kChunk - 1) / kChunk);
#pragma unroll 1
  for (int chunk = share.first; chunk < chunks; chunk += share.step) {
    const long long k = static_cast<long long>(chunk) * kChunk + threadIdx.x % 4 * kOfLane;
    OwnChunk<cfg> here;
    load_narrow(here.narrow, m, share.line, k, group, loads);
#pragma unroll
    for (int c = 0; c < cfg.rows / 8; ++c) {
      load_wide(here.wide[c], m, wide_row(m, share.row + c * 8 + group), k);
    }
    multiply_own<cfg>(sums, here, loads == kAlongLines, lost);
  }
}

// Returns how the lines were read, which determines which line a sum belongs to.
template <auto cfg>
__device__ int multiply_by_own_terms(Sums<cfg>& sums, const Matrices& m, Share share,
                                     std::uint32_t& lost) {
  const Params& p = m.p;
  const bool is_whole = p.loads != kElements && share.line + cfg.lines <= p.lines;
  if (is_whole && p.loads == kAlongK && p.fp32_is_along_k) {
    multiply_whole<cfg, false, true>(sums, m, share, lost);
  } else if (is_whole && p.loads == kAlongK) {
    multiply_whole<cfg, false, false>(sums, m, share, lost);
  } else if (is_whole && p.fp32_is_along_k) {
    multiply_whole<cfg, true, true>(sums, m, share, lost);
  } else if (is_whole) {
    multiply_whole<cfg, true, false>(sums, m, share, lost);
  }
  if (is_whole) {
    // The rest of k is a part of a chunk, and belongs to the warp whose turn would be next.
    const int chunks = static_cast<int>(p.gemm.k / kChunk);
    if (p.gemm.k % kChunk == 0 || chunks % share.step != share.first) return p.loads;
    share.first = chunks;
  }
  const int loads = is_whole ? p.loads : kElements;
  multiply_checked<cfg>(sums, m, share, loads, lost);
  return loads;
}

}  // namespace tessera::mixed
