// The sums of one warp: terms of FP32 numbers, and chains of products of these with BF16 lines.
#pragma once

#include "kernels/families/mixed/loads.h"
#include "kernels/ptx/mma.h"

namespace tessera::mixed {

// Three terms of two numbers: words of two BF16 each, the highest first. Returns the bits that no
// term holds, in the lower half.
__device__ inline std::uint32_t split(float x, float y, std::uint32_t (&terms)[3]) {
  constexpr unsigned kUpper = 0xffff0000u, kUpperHalves = 0x7632;
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const unsigned of_x = __float_as_uint(x), of_y = __float_as_uint(y);
    terms[i] = __byte_perm(of_x, of_y, kUpperHalves);
    if (i == 2) return of_x | of_y;
    x -= __uint_as_float(of_x & kUpper);
    y -= __uint_as_float(of_y & kUpper);
  }
  return 0;
}

// Terms of a lane's numbers in one instruction's columns: pairs along k, each in three words.
struct Terms {
  std::uint32_t of_pair[4][3];
};

__device__ inline Terms terms_of(const float (&x)[kOfLane], std::uint32_t& lost) {
  Terms terms;
#pragma unroll
  for (int i = 0; i < 4; ++i) lost |= split(x[2 * i], x[2 * i + 1], terms.of_pair[i]);
  return terms;
}

// Adds the products of a chunk to the sums of a warp, the columns of a few instructions at a time,
// whose terms `of_columns` has. WHY their chains side by side: an instruction waits for the one
// before it in its chain. TRIED (H100, 16 rows of 131072 x 4096 lines): terms from shared memory,
// split once per CTA, which waits in each stage: slower.
template <int columns, int words, class OfColumns>
__device__ void multiply(float (&sums)[columns / kColumns][kPieces][4],
                         const std::uint32_t (&narrow)[words], OfColumns of_columns) {
  constexpr int kAll = columns / kColumns, kTogether = kAll < 2 ? kAll : 2;
#pragma unroll
  for (int first = 0; first < kAll; first += kTogether) {
    Terms terms[kTogether];
    float low[kTogether][kPieces][4] = {}, high[kTogether][kPieces][4] = {};
#pragma unroll
    for (int c = 0; c < kTogether; ++c) terms[c] = of_columns(first + c);
    const auto add = [&](float(&chain)[4], int c, int piece, int half, int term) {
      const std::uint32_t* const from = &narrow[8 * piece + 2 * half];
      const std::uint32_t a[4] = {from[0], from[4], from[1], from[5]};
      const std::uint32_t b[2] = {terms[c].of_pair[2 * half][term],
                                  terms[c].of_pair[2 * half + 1][term]};
      ptx::mma_m16n8k16<ptx::MatrixType::kBF16>(chain, a, b);
    };
#pragma unroll
    for (int step = 0; step < 4; ++step) {
#pragma unroll
      for (int i = 0; i < kTogether * kPieces; ++i) {
        const int c = i / kPieces, piece = i % kPieces;
        add(low[c][piece], c, piece, step % 2, step < 2 ? 2 : 1);
        if (step < 2) add(high[c][piece], c, piece, step, 0);
      }
    }
#pragma unroll
    for (int i = 0; i < kTogether * kPieces * 4; ++i) {
      const int c = i / (kPieces * 4), piece = i / 4 % kPieces;
      sums[first + c][piece][i % 4] += high[c][piece][i % 4] + low[c][piece][i % 4];
    }
  }
}

// The same of a chunk that the warp has read for itself.
template <int columns>
__device__ void multiply(float (&sums)[columns / kColumns][kPieces][4], Chunk<columns>& chunk,
                         bool is_across, std::uint32_t& lost) {
  if (is_across) pair_along_k(chunk.narrow);
  multiply<columns>(sums, chunk.narrow, [&](int c) { return terms_of(chunk.wide[c], lost); });
}

// The sums of one warp over whole chunks.
template <auto cfg, bool is_across, bool wide_is_along_k>
__device__ void multiply_whole(float (&sums)[cfg.columns / kColumns][kPieces][4], const Matrices& m,
                               const Share& share, std::uint32_t& lost) {
  const int chunks = static_cast<int>(m.p.gemm.k / kChunk);
  WholeChunks<cfg.columns, is_across, wide_is_along_k> source(m, share);
  Chunk<cfg.columns> ring[cfg.stages];
#pragma unroll
  for (int stage = 0; stage < cfg.stages; ++stage) {
    if (share.first + stage * share.step < chunks) source.load(ring[stage]);
  }
  for (int chunk = share.first; chunk < chunks; chunk += cfg.stages * share.step) {
#pragma unroll
    for (int stage = 0; stage < cfg.stages; ++stage) {
      const int here = chunk + stage * share.step;
      if (here >= chunks) break;
      multiply<cfg.columns>(sums, ring[stage], is_across, lost);
      if (here + cfg.stages * share.step < chunks) source.load(ring[stage]);
    }
  }
}

// The same over chunks from `first` on, with loads that check what is there.
template <auto cfg>
__device__ void multiply_checked(float (&sums)[cfg.columns / kColumns][kPieces][4],
                                 const Matrices& m, const Share& share, int loads,
                                 std::uint32_t& lost) {
  const int group = threadIdx.x % 32 / 4;
  const int chunks = static_cast<int>((m.p.gemm.k + kChunk - 1) / kChunk);
#pragma unroll 1
  for (int chunk = share.first; chunk < chunks; chunk += share.step) {
    const long long k = static_cast<long long>(chunk) * kChunk + threadIdx.x % 4 * kOfLane;
    Chunk<cfg.columns> here;
    load_narrow(here.narrow, m, share.line, k, group, loads);
    load_wide(here.wide, m, share.row, k, group);
    multiply<cfg.columns>(sums, here, loads == kAlongLines, lost);
  }
}

// Returns how the lines were read: which line a sum is of depends on it.
template <auto cfg>
__device__ int multiply_share(float (&sums)[cfg.columns / kColumns][kPieces][4], const Matrices& m,
                              Share share, std::uint32_t& lost) {
  const Params& p = m.p;
  const bool is_whole = p.loads != kElements && share.line + kLines <= p.lines;
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
    // What is left is part of a chunk, and the next one of some warp.
    const int chunks = static_cast<int>(p.gemm.k / kChunk);
    if (p.gemm.k % kChunk == 0 || chunks % share.step != share.first) return p.loads;
    share.first = chunks;
  }
  const int loads = is_whole ? p.loads : kElements;
  multiply_checked<cfg>(sums, m, share, loads, lost);
  return loads;
}

}  // namespace tessera::mixed
