// The launch before a product that is summed from terms. It multiplies each row of A and column of
// B by a power of two and splits each number x into high = FP16(x) and low = FP16(x - high). high +
// low is x but for 2^-23 of it, or 2^-39 of the largest number of its row.
//
// Numbers 2^20 below the largest one lose more digits than a product of FP32 would. Where many
// neighbours do, or where a number is an infinity or a NaN, the launch says so, and FFMAs multiply.
//
// WHY clusters: the scale of a row follows from all of it. Eight CTAs hold a strip of 32 rows in
// shared memory until they know it, so operands are read once up to a k of 6144.
#pragma once

#include <cstdint>

#include "kernels/passes/terms_params.h"
#include "kernels/ptx/cluster.h"
#include "kernels/ptx/convert.h"
#include "kernels/ptx/griddepcontrol.h"

namespace tessera::passes {

__device__ inline std::uint32_t magnitude(float x) { return __float_as_uint(x) & 0x7fffffff; }

// The power of two of a row. WHY bits: of magnitudes they are in the order of the numbers,
// infinities and NaN last.
struct RowScale {
  int exponent;  // 2^exponent times the largest number is in 2^14 ... 2^15
  bool is_special;

  __device__ explicit RowScale(std::uint32_t largest) {
    constexpr int kTop = 14, kBias = 127, kLeast = -100;
    const int of_largest = static_cast<int>(largest >> 23) - kBias;
    is_special = largest >= 0x7f800000 || (largest != 0 && of_largest < kLeast);
    exponent = largest == 0 || is_special ? 0 : kTop - of_largest;
  }
  __device__ float factor() const { return __int_as_float((exponent + 127) << 23); }
};

// Eight neighbours along k as eight high and eight low terms.
struct Terms {
  uint4 high, low;

  __device__ explicit Terms(const float (&x)[8]) {
    std::uint32_t* const of_high = &high.x;
    std::uint32_t* const of_low = &low.x;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float first = x[2 * i], second = x[2 * i + 1];
      const std::uint32_t pair = ptx::to_f16x2(first, second);
      of_high[i] = pair;
      of_low[i] = ptx::to_f16x2(first - ptx::from_f16(static_cast<std::uint16_t>(pair)),
                                second - ptx::from_f16(static_cast<std::uint16_t>(pair >> 16)));
    }
  }
};

// A strip's rows, and where the slab begins in the operand.
struct SlabPlace {
  const SplitOperand& of;
  long long outer, k;

  __device__ float load(int row, int at) const {
    const long long r = outer + row, c = k + at;
    return r < of.outer && c < of.k ? of.from[r * of.from_outer + c * of.from_k] : 0;
  }
};

// The largest magnitudes that a thread has seen: of its warp's four rows or, where lanes are rows,
// of one.
struct Largest {
  static constexpr int kRows = kSplitOuter / (kSplitThreads / 32);
  std::uint32_t of[kRows] = {};

  __device__ void see(int row, float x) { of[row] = max(of[row], magnitude(x)); }
};

// A slab on its way from any layout to rows along k. Pieces of 16 bytes are exchanged within a row,
// so that neither lanes along k nor lanes along rows meet in a bank when they fill it.
struct Slab {
  float4 piece[kSplitOuter][kSlabK / 4];

  __device__ float4& at(int row, int number) { return piece[row][number ^ (row % 8)]; }

  // Warps share the rows where these are along k, else k.
  __device__ void load(const SlabPlace& place, Largest& largest) {
    constexpr int kWarps = kSplitThreads / 32, kRows = Largest::kRows;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (place.of.from_k == 1) {
      float x[kRows][kSlabK / 32];
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int j = 0; j < kSlabK / 32; ++j) x[i][j] = place.load(warp * kRows + i, lane + 32 * j);
      }
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
#pragma unroll
        for (int j = 0; j < kSlabK / 32; ++j) {
          const int k = lane + 32 * j;
          largest.see(i, x[i][j]);
          reinterpret_cast<float*>(&at(warp * kRows + i, k / 4))[k % 4] = x[i][j];
        }
      }
    } else {
      constexpr int kOfWarp = kSlabK / kWarps;
      float x[kOfWarp];
#pragma unroll
      for (int j = 0; j < kOfWarp; ++j) x[j] = place.load(lane, warp * kOfWarp + j);
#pragma unroll
      for (int j = 0; j < kOfWarp; j += 4) {
        at(lane, (warp * kOfWarp + j) / 4) = {x[j], x[j + 1], x[j + 2], x[j + 3]};
      }
#pragma unroll
      for (int j = 0; j < kOfWarp; ++j) largest.see(0, x[j]);
    }
  }

  // To terms; what they lose. `of_row`: bits of the largest magnitude of each row.
  __device__ int split(const SlabPlace& place, const std::uint32_t (&of_row)[kSplitOuter]) {
    constexpr int kPieces = kSlabK / 8, kRows = kSplitThreads / kPieces;
    constexpr float kLossy = 1.0f / 64;  // 2^20 below 2^14
    const int number = static_cast<int>(threadIdx.x) % kPieces;
    int lost = 0;
#pragma unroll
    for (int i = 0; i < kSplitOuter / kRows; ++i) {
      const int row = static_cast<int>(threadIdx.x) / kPieces + i * kRows;
      const RowScale scale(of_row[row]);
      const float4 first = at(row, 2 * number), second = at(row, 2 * number + 1);
      float x[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
      int counts = 0;  // of the numbers that are not 0 and, in the upper half, of those that lose
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const bool is_zero = x[j] == 0;  // WHY before: scaled, a very small number is one, too
        x[j] *= scale.factor();
        if (!is_zero) counts += fabsf(x[j]) < kLossy ? 0x10001 : 1;
      }
#pragma unroll
      for (int distance = 1; distance < kPieces; distance *= 2) {
        counts += __shfl_xor_sync(0xffffffff, counts, distance);
      }
      if (4 * (counts >> 16) > (counts & 0xffff)) lost |= kLostSpread;
      if (scale.is_special) lost |= kLostSpecials;
      const long long k = place.k + 8 * number;
      if (place.outer + row < place.of.outer && 2 * k < place.of.row) {
        const Terms terms(x);
        unsigned short* const to = place.of.to + (place.outer + row) * place.of.row +
                                   k / kTermGroup * (2 * kTermGroup) + k % kTermGroup;
        *reinterpret_cast<uint4*>(to) = terms.high;
        *reinterpret_cast<uint4*>(to + kTermGroup) = terms.low;
      }
    }
    return lost;
  }
};

// What a CTA has of a strip: the CTAs of its cluster take slabs in turn.
struct Strip {
  const SplitOperand& of;
  long long outer;
  int rank, ctas;

  __device__ bool has(int number) const {
    return (rank + static_cast<long long>(number) * ctas) * kSlabK < of.row / 2;
  }
  __device__ SlabPlace place(int number) const {
    return {of, outer, (rank + static_cast<long long>(number) * ctas) * kSlabK};
  }
};

// The largest magnitudes of a strip's rows, over all of k.
struct StripMaxima {
  std::uint32_t of_cta[kSplitOuter], of_row[kSplitOuter];

  // All threads of a CTA, once of_cta is 0.
  __device__ void add(const Largest& largest, bool lanes_are_rows) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lanes_are_rows) {
      atomicMax(&of_cta[lane], largest.of[0]);
      return;
    }
#pragma unroll
    for (int i = 0; i < Largest::kRows; ++i) {
      const std::uint32_t of_warp = __reduce_max_sync(0xffffffff, largest.of[i]);
      if (lane == 0) of_cta[warp * Largest::kRows + i] = of_warp;
    }
  }
  // A warp, once all CTAs of the cluster have added theirs.
  __device__ void gather(int ctas) {
    const int lane = threadIdx.x % 32;
    std::uint32_t largest = 0;
#pragma unroll
    for (int rank = 0; rank < kMostSplitCtas; ++rank) {  // WHY: all loads are in flight at a time
      if (rank < ctas) largest = max(largest, *ptx::map_to_cta(&of_cta[lane], rank));
    }
    of_row[lane] = largest;
  }
};

// Grid: clusters for the strips of A, then for those of B.
__device__ inline void split_terms(const SplitParams& p) {
  __shared__ StripMaxima maxima;
  extern __shared__ __align__(16) unsigned char memory[];
  auto* const slabs = reinterpret_cast<Slab*>(memory);
  ptx::launch_dependents();
  const int ctas = static_cast<int>(ptx::cluster_size());
  const int rank = static_cast<int>(ptx::cluster_rank());
  const long long number = blockIdx.x / ctas;
  const bool is_a = number < p.a.strips;
  const SplitOperand& operand = is_a ? p.a : p.b;
  const Strip strip{operand, (is_a ? number : number - p.a.strips) * kSplitOuter, rank, ctas};
  if (threadIdx.x < kSplitOuter) maxima.of_cta[threadIdx.x] = 0;
  __syncthreads();
  Largest largest;
  int end = 0;  // WHY into the last slot: what does not fit is only looked at here
#pragma unroll 1
  for (; strip.has(end); ++end) {
    slabs[min(end, p.resident - 1)].load(strip.place(end), largest);
  }
  maxima.add(largest, operand.from_k != 1);
  ptx::cluster_sync();
  if (threadIdx.x < 32) {
    maxima.gather(ctas);
    const long long row = strip.outer + threadIdx.x;
    if (rank == 0 && row < operand.outer) {
      operand.exponents[row] = -RowScale(maxima.of_row[threadIdx.x]).exponent;
    }
  }
  __syncthreads();
  ptx::cluster_arrive();  // this CTA reads no other one's memory any more
  const int kept = end <= p.resident ? end : p.resident - 1;
  int lost = 0;
#pragma unroll 1
  for (int i = 0; i < end; ++i) {
    Slab& slab = slabs[min(i, p.resident - 1)];
    if (i >= kept) {
      __syncthreads();
      slab.load(strip.place(i), largest);
      __syncthreads();
    }
    lost |= slab.split(strip.place(i), maxima.of_row);
  }
  const int spread = __syncthreads_or(lost & kLostSpread);
  const int specials = __syncthreads_or(lost & kLostSpecials);
  if (threadIdx.x == 0) {
    p.lost[blockIdx.x] = (spread ? kLostSpread : 0) | (specials ? kLostSpecials : 0);
  }
  ptx::cluster_wait();
}

}  // namespace tessera::passes
