// The launch before a product of terms. It multiplies each row of A and column of B by a power of
// two and splits each number x into high = FP16(x) and low = FP16((x - high) 2^e). With e = 12, the
// error of high + low 2^-12 is at most 2^-23 of x, or 2^-51 of the largest number of the row (or
// column).
//
// Numbers 2^32 below the largest one of their row lose more digits than in an FP32 product. If many
// neighbours lose digits, or a number is infinite or NaN, or a row has only very small numbers, the
// launch sets a flag, and FFMAs multiply the original operands.
//
// WHY clusters: the scale of a row depends on the whole row. Eight CTAs keep a strip of 32 rows in
// shared memory until the scale is known, so that operands are read only once up to a k of 7168.
#pragma once

#include <cstdint>

#include "kernels/copy/strided_operand.h"
#include "kernels/passes/terms_params.h"
#include "kernels/ptx/cluster.h"
#include "kernels/ptx/convert.h"
#include "kernels/ptx/griddepcontrol.h"

namespace tessera::passes {

__device__ inline std::uint32_t magnitude(float x) { return __float_as_uint(x) & 0x7fffffff; }

// The power of two of a row, from the bits of its largest magnitude. WHY bits: as integers they
// have the order of the magnitudes, with infinities and NaN last.
struct RowScale {
  int exponent;     // 2^exponent times the largest number is in 2^14 ... 2^15
  bool is_special;  // the row cannot be scaled

  __device__ explicit RowScale(std::uint32_t largest) {
    constexpr int kTop = 14, kBias = 127, kLeast = -100;
    const int of_largest = static_cast<int>(largest >> 23) - kBias;
    is_special = largest >= 0x7f800000 || (largest != 0 && of_largest < kLeast);
    exponent = largest == 0 || is_special ? 0 : kTop - of_largest;
  }
  __device__ float factor() const { return __int_as_float((exponent + 127) << 23); }
};

// Four neighbours along k as four high and four low terms.
struct Terms {
  uint2 high, low;

  // Splits x. Low terms are multiplied by `low_factor`.
  __device__ Terms(const float (&x)[4], float low_factor) {
    std::uint32_t* const of_high = &high.x;
    std::uint32_t* const of_low = &low.x;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float first = x[2 * i], second = x[2 * i + 1];
      const std::uint32_t pair = ptx::to_f16x2(first, second);
      of_high[i] = pair;
      of_low[i] = ptx::to_f16x2(
          low_factor * (first - ptx::from_f16(static_cast<std::uint16_t>(pair))),
          low_factor * (second - ptx::from_f16(static_cast<std::uint16_t>(pair >> 16))));
    }
  }
};

__device__ inline copy::StridedOperand elements_of(const SplitOperand& of) {
  return {of.from, of.outer, of.k, of.from_outer, of.from_k};
}

// The position of a slab in the operand. A slab is a part of k of a strip of kSplitOuter rows.
struct SlabPlace {
  const SplitOperand& of;
  long long outer, k;

  __device__ bool has_row(int row) const { return outer + row < of.outer; }
  template <int floats>
  __device__ void copy(float* to, int row, int at) const {
    elements_of(of).template copy<floats>(to, static_cast<int>(outer) + row,
                                          static_cast<int>(k) + at);
  }
};

// The largest magnitudes of a warp's rows in a strip.
struct Largest {
  static constexpr int kRows = kSplitOuter / (kSplitThreads / 32);
  std::uint32_t of[kRows] = {};

  __device__ static int row(int i) { return static_cast<int>(threadIdx.x) / 32 * kRows + i; }
};

// A slab in shared memory, with rows along k. Pieces of 16 bytes are exchanged within a row, which
// reduces bank conflicts of lanes in different rows.
struct Slab {
  float4 piece[kSplitOuter][kSlabK / 4];
  static_assert(kSlabK / 4 == 32, "a warp reads a row");

  __device__ float4& at(int row, int number) { return piece[row][number ^ (row % 8)]; }

  // Starts the copies, with lanes along the contiguous index. `by_fours`: as aligned fours along k.
  __device__ void load(const SlabPlace& place, bool by_fours) {
    constexpr int kRows = Largest::kRows, kOfThread = kRows * kSlabK / 32;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (by_fours) {
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        place.copy<4>(&at(warp * kRows + i, lane).x, warp * kRows + i, 4 * lane);
      }
      return;
    }
    const bool along_k = place.of.from_k == 1;
#pragma unroll
    for (int i = 0; i < kOfThread; ++i) {
      const int row = along_k ? warp * kRows + i % kRows : lane;
      const int k = along_k ? lane + i / kRows * 32 : warp * kOfThread + i;
      place.copy<1>(&at(row, k / 4).x + k % 4, row, k);
    }
  }

  __device__ void see(Largest& largest) {
#pragma unroll
    for (int i = 0; i < Largest::kRows; ++i) {
      const float4 x = at(Largest::row(i), threadIdx.x % 32);
      largest.of[i] = max(max(max(largest.of[i], magnitude(x.x)), magnitude(x.y)),
                          max(magnitude(x.z), magnitude(x.w)));
    }
  }

  // Splits the slab; returns whether digits are lost. `of_row`: bits of the rows' maxima.
  __device__ bool split(const SlabPlace& place, const std::uint32_t (&of_row)[kSplitOuter],
                        float low_factor) {
    constexpr float kLossy = 0x1p-18f, kLost = 0x1p-22f;  // 2^32 and 2^36 below 2^14
    const int lane = threadIdx.x % 32;
    bool is_lost = false;
    int of_rows = 0;
#pragma unroll
    for (int i = 0; i < Largest::kRows; ++i) {
      const int row = Largest::row(i);
      const RowScale scale(of_row[row]);
      const float4 four = at(row, lane);
      float x[4] = {four.x, four.y, four.z, four.w};
      // Counts numbers other than 0 in the lower half, and numbers that lose digits in the upper
      // half; numbers below kLost count four times.
      int counts = 0;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const bool is_zero = x[j] == 0;  // WHY before scaling: a very small number may become 0
        x[j] *= scale.factor();
        const int lossy = fabsf(x[j]) < kLost ? 4 : fabsf(x[j]) < kLossy ? 1 : 0;
        if (!is_zero) counts += lossy << 16 | 1;
      }
      counts = __reduce_add_sync(0xffffffff, counts);
      is_lost |= 2 * (counts >> 16) > (counts & 0xffff) || scale.is_special;
      of_rows += counts;
      const long long k = place.k + 4 * lane;
      if (place.has_row(row) && 2 * k < place.of.row) {
        const Terms terms(x, low_factor);
        unsigned short* const to = place.of.to + (place.outer + row) * place.of.row +
                                   k / kTermGroup * (2 * kTermGroup) + k % kTermGroup;
        *reinterpret_cast<uint2*>(to) = terms.high;
        *reinterpret_cast<uint2*>(to + kTermGroup) = terms.low;
      }
    }
    return is_lost || 4 * (of_rows >> 16) > (of_rows & 0xffff);
  }
};

// The slabs of a strip that one CTA processes: the CTAs of a cluster take every ctas-th slab.
struct Strip {
  const SplitOperand& of;
  long long outer;
  int rank, ctas;

  __device__ int slabs() const {
    const long long of_row = (of.row / 2 + kSlabK - 1) / kSlabK;
    return static_cast<int>((of_row - rank + ctas - 1) / ctas);
  }
  __device__ SlabPlace place(int number) const {
    return {of, outer, (rank + static_cast<long long>(number) * ctas) * kSlabK};
  }
};

// The largest magnitudes of a strip's rows, over all of k.
struct StripMaxima {
  std::uint32_t of_cta[kSplitOuter], of_row[kSplitOuter];

  __device__ void add(const Largest& largest) {
#pragma unroll
    for (int i = 0; i < Largest::kRows; ++i) {
      const std::uint32_t of_warp = __reduce_max_sync(0xffffffff, largest.of[i]);
      if (threadIdx.x % 32 == 0) of_cta[Largest::row(i)] = of_warp;
    }
  }
  // One warp gathers the maxima of all CTAs of the cluster, after these have called add().
  __device__ void gather(int ctas) {
    const int lane = threadIdx.x % 32;
    std::uint32_t largest = 0;
#pragma unroll
    for (int rank = 0; rank < kMostSplitCtas; ++rank) {  // WHY constant: all loads in flight
      if (rank < ctas) largest = max(largest, *ptx::map_to_cta(&of_cta[lane], rank));
    }
    of_row[lane] = largest;
  }
};

// The entry point. The grid has one cluster per strip of A, then one per strip of B.
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
  const long long of_operand = is_a ? number : number - p.a.strips;
  const Strip strip{operand, of_operand * kSplitOuter, rank, ctas};
  const bool by_fours = elements_of(operand).has_fours();
  const int end = strip.slabs();
  // If not all slabs fit, slabs after the first `kept` share the last slot and are read twice.
  const int kept = end <= p.resident ? end : p.resident - 1;
  const auto arrive = [] {
    ptx::cp_async_wait_all();
    __syncthreads();
  };
  for (int i = 0; i < kept; ++i) slabs[i].load(strip.place(i), by_fours);
  arrive();
  Largest largest;
  for (int i = 0; i < kept; ++i) slabs[i].see(largest);
#pragma unroll 1
  for (int i = kept; i < end; ++i) {
    slabs[kept].load(strip.place(i), by_fours);
    arrive();
    slabs[kept].see(largest);
    __syncthreads();
  }
  maxima.add(largest);
  ptx::cluster_sync();
  if (threadIdx.x < 32) {
    maxima.gather(ctas);
    const long long row = strip.outer + threadIdx.x;
    if (rank == 0 && row < operand.outer) {
      operand.exponents[row] = -RowScale(maxima.of_row[threadIdx.x]).exponent;
    }
  }
  __syncthreads();
  ptx::cluster_arrive();  // this CTA has finished reading other CTAs' memory
  const float low_factor = __int_as_float((p.low_exponent + 127) << 23);
  bool is_lost = false;
#pragma unroll 1
  for (int i = 0; i < end; ++i) {
    Slab& slab = slabs[min(i, kept)];
    if (i >= kept) {
      __syncthreads();
      slab.load(strip.place(i), by_fours);
      arrive();
    }
    is_lost |= slab.split(strip.place(i), maxima.of_row, low_factor);
  }
  is_lost = __syncthreads_or(is_lost);
  if (threadIdx.x == 0) operand.lost[of_operand * ctas + rank] = is_lost;
  ptx::cluster_wait();
}

}  // namespace tessera::passes
