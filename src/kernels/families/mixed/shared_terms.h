// Computes the sums of warps that share terms: the CTA splits the FP32 numbers of
// a stage (four chunks of k) into terms once, while its warps, each with different
// lines, multiply the previous stage. TRIED (H100, 16 rows of 131072 x 4096
// lines): stages of one chunk, whose barriers cost more than splitting in each
// warp.
#pragma once

#include "kernels/families/mixed/products.h"

namespace tessera::mixed {

// The fragments of a stage's terms, in the order in which lanes read them.
template <auto cfg>
struct TermsOfStage {
  uint4 of[kStage][cfg.rows / kRows][kTerms][kChunk / 16][32];

  __device__ Terms take(int chunk, int rows) const {
    Terms terms;
#pragma unroll
    for (int i = 0; i < 2 * kTerms; ++i) {
      const uint4 x = of[chunk][rows][i / 2][i % 2][threadIdx.x % 32];
      auto& to = terms.of[i / 2][i % 2];
      to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
    }
    return terms;
  }
  __device__ void put(int chunk, int rows, const Terms& terms) {
#pragma unroll
    for (int i = 0; i < 2 * kTerms; ++i) {
      const auto& from = terms.of[i / 2][i % 2];
      of[chunk][rows][i / 2][i % 2][threadIdx.x % 32] = {from[0], from[1], from[2], from[3]};
    }
  }
};

// The numbers that a thread splits into terms: at a time, its numbers of one chunk and 16 rows;
// `kItems` times per stage.
template <auto cfg>
struct Splitter {
  static constexpr int kGroups = cfg.rows / kRows;
  static constexpr int kItems = kStage * kGroups / cfg.warps;
  float x[2][kOfLane];

  __device__ static int part(int item) { return item * cfg.warps + threadIdx.x / 32; }

  __device__ void load(const Matrices& m, const Share& share, int stage, int item) {
    const int chunk = part(item) / kGroups, rows = part(item) % kGroups * kRows;
    const int lane = threadIdx.x % 32;
    const long long k = (static_cast<long long>(stage) * kStage + chunk) * kChunk;
#pragma unroll
    for (int upper = 0; upper < 2; ++upper) {
      load_wide(x[upper], m, wide_row(m, share.row + rows + 8 * upper + lane / 4),
                k + lane % 4 * kOfLane);
    }
  }

  __device__ void store(TermsOfStage<cfg>& to, int item, std::uint32_t& lost) const {
    Terms terms;
    cut(terms, 0, x[0], lost);
    cut(terms, 1, x[1], lost);
    to.put(part(item) / kGroups, part(item) % kGroups, terms);
  }

  __device__ void whole_stage(TermsOfStage<cfg>& to, const Matrices& m, const Share& share,
                              int stage, std::uint32_t& lost) {
#pragma unroll
    for (int item = 0; item < kItems; ++item) load(m, share, stage, item), store(to, item, lost);
  }
};

template <auto cfg>
__device__ void multiply_stage(Sums<cfg>& sums, NarrowChunk<cfg.lines>& narrow,
                               const TermsOfStage<cfg>& terms, int chunk, bool is_across) {
  if (is_across) pair_along_k(narrow);
  multiply<cfg>(sums, narrow, [&](int rows) { return terms.take(chunk, rows); });
}

// The shared memory of warps that share terms.
template <auto cfg>
struct SharedTerms {
  TermsOfStage<cfg> terms[2];
  NarrowSlot<cfg.lines> ring[cfg.warps][cfg.loads];
};

// Copies the chunks of a warp's lines to its ring, two at a time. WHY two: together they read whole
// cache lines.
template <auto cfg, bool is_across>
struct Copier {
  NarrowSource<cfg.lines, is_across> source;
  NarrowSlot<cfg.lines> (&ring)[cfg.loads];
  int chunk, chunks;            // the next chunk, and the number of chunks of the product
  long long to_next, to_stage;  // elements to the next chunk, and to that of the next stage

  __device__ Copier(SharedTerms<cfg>& shared, const Matrices& m, const Share& share)
      : source(m, share.line, static_cast<long long>(share.first) * kStage * kChunk),
        ring(shared.ring[threadIdx.x / 32]),
        chunk(share.first * kStage),
        chunks(static_cast<int>(m.p.gemm.k / kChunk)),
        to_next(kChunk * m.p.narrow_k),
        to_stage(((share.step - 1) * kStage + 1) * to_next) {}

  __device__ void copy_two(int step) {
#pragma unroll
    for (int half = 0; half < 2; ++half, ++chunk) {
      if (chunk < chunks) source.copy(ring[chunk % cfg.loads]);
      const bool ends_stage = half == 1 && chunk % kStage == kStage - 1;
      source.at += ends_stage ? to_stage : to_next;
      if (ends_stage) chunk += (step - 1) * kStage;
    }
    ptx::cp_async_commit_group();
  }
};

// Multiplies whole chunks, for a CTA whose lines all exist.
template <auto cfg, bool is_across>
__device__ void multiply_stages(Sums<cfg>& sums, SharedTerms<cfg>& shared, const Matrices& m,
                                const Share& share, std::uint32_t& lost) {
  constexpr int kChunksOfItem = kStage / Splitter<cfg>::kItems;
  Copier<cfg, is_across> copier(shared, m, share);
  const int chunks = copier.chunks;
  Splitter<cfg> splitter;
#pragma unroll
  for (int i = 0; i < cfg.loads / 2; ++i) copier.copy_two(share.step);
  if (share.first * kStage < chunks) {
    splitter.whole_stage(shared.terms[0], m, share, share.first, lost);
  }
  __syncthreads();
  int buffer = 0;
  for (int stage = share.first; stage * kStage < chunks; stage += share.step, buffer ^= 1) {
    const int next = stage + share.step;
    const bool has_next = next * kStage < chunks;
#pragma unroll 1
    for (int first = 0; first < kStage; first += 2) {
      ptx::cp_async_wait_group<cfg.loads / 2 - 1>();
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int chunk = first + half;
        const bool has_item = has_next && chunk % kChunksOfItem == 0;
        if (has_item) splitter.load(m, share, next, chunk / kChunksOfItem);
        if (stage * kStage + chunk < chunks) {
          auto narrow = copier.ring[chunk % cfg.loads].template take<is_across>();
          multiply_stage<cfg>(sums, narrow, shared.terms[buffer], chunk, is_across);
        }
        if (has_item) splitter.store(shared.terms[buffer ^ 1], chunk / kChunksOfItem, lost);
      }
      copier.copy_two(share.step);
    }
    __syncthreads();
  }
}

// Multiplies chunks from `from` on, by loads that check for the end of lines and k.
template <auto cfg>
__device__ void multiply_checked_stages(Sums<cfg>& sums, SharedTerms<cfg>& shared,
                                        const Matrices& m, const Share& share, int from, int loads,
                                        std::uint32_t& lost) {
  const int group = threadIdx.x % 32 / 4;
  const int chunks = static_cast<int>((m.p.gemm.k + kChunk - 1) / kChunk);
  Splitter<cfg> splitter;
#pragma unroll 1
  for (int stage = share.first; stage * kStage < chunks; stage += share.step) {
    if ((stage + 1) * kStage <= from) continue;
    splitter.whole_stage(shared.terms[0], m, share, stage, lost);
    __syncthreads();
#pragma unroll 1
    for (int chunk = 0; chunk < kStage; ++chunk) {
      const int here = stage * kStage + chunk;
      if (here < from || here >= chunks) continue;
      NarrowChunk<cfg.lines> narrow;
      const long long k = static_cast<long long>(here) * kChunk + threadIdx.x % 4 * kOfLane;
      load_narrow(narrow, m, share.line, k, group, loads);
      multiply_stage<cfg>(sums, narrow, shared.terms[0], chunk, loads == kAlongLines);
    }
    __syncthreads();
  }
}

// Returns how the lines were read, which determines a sum's line. `line`: the CTA's first line.
template <auto cfg>
__device__ int multiply_by_shared_terms(Sums<cfg>& sums, SharedTerms<cfg>& shared,
                                        const Matrices& m, const Share& share, long long line,
                                        std::uint32_t& lost) {
  const Params& p = m.p;
  const bool is_whole = p.loads != kElements && line + cfg.lines * cfg.warps <= p.lines;
  if (is_whole && p.loads == kAlongK) {
    multiply_stages<cfg, false>(sums, shared, m, share, lost);
  } else if (is_whole) {
    multiply_stages<cfg, true>(sums, shared, m, share, lost);
  }
  if (is_whole && p.gemm.k % kChunk == 0) return p.loads;
  const int from = is_whole ? static_cast<int>(p.gemm.k / kChunk) : 0;
  const int loads = is_whole ? p.loads : kElements;
  multiply_checked_stages<cfg>(sums, shared, m, share, from, loads, lost);
  return loads;
}

}  // namespace tessera::mixed
