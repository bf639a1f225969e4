// The launch ahead of a product whose operands tensor copies do not take: one that is contiguous
// along k, or whose rows do not begin at multiples of 16 bytes, is brought into rows along m (or
// n).
//
// A block moves one tile. Rows that are to be turned pass through shared memory, so that both sides
// see whole lines of 128 bytes; rows along m (or n) already go straight through the registers.
// TRIED (H200, 4096 x 4096, 1056 copying blocks as the bound: 36.6 us): squares of 4 x 4 turned in
// registers, which write 64 bytes of a line at a time, 87 us; the same with whole lines written and
// halves read 52 us; this tile 44 us, of 64 x 64 46 us, of 32 x 32 54 us.
#pragma once

#include "kernels/ptx/griddepcontrol.h"
#include "kernels/simt/params.h"

namespace tessera::simt {

// Four neighbours `at` ... at+3 of a run of `extent` floats that lie side by side in memory.
struct Strip {
  const float* run;
  long long at, extent;

  // Floats between the last multiple of 16 bytes and the first of the four.
  __device__ int behind() const {
    return static_cast<int>(reinterpret_cast<unsigned long long>(run + at) / sizeof(float) % 4);
  }
  // Whether the aligned fours that hold them lie inside of the run.
  __device__ bool is_inside() const {
    const int first = behind();
    return at >= first && at - first + (first == 0 ? 4 : 8) <= extent;
  }
  __device__ float element(int i) const { return at + i < extent ? run[at + i] : 0; }
};

__device__ inline float4 four_of(float4 low, float4 high, int behind) {
  if (behind == 1) return {low.y, low.z, low.w, high.x};
  if (behind == 2) return {low.z, low.w, high.x, high.y};
  if (behind == 3) return {low.w, high.x, high.y, high.z};
  return low;
}

// Strips at any alignment, by 128-bit loads where all of a thread's strips allow it, which are then
// in flight together. TRIED: element by element, unaligned rows took twice the time of aligned
// ones.
template <int count, class StripOf>
__device__ void load_strips(float4 (&x)[count], StripOf strip_of) {
  bool inside = true;
#pragma unroll
  for (int n = 0; n < count; ++n) inside &= strip_of(n).is_inside();
  if (!inside) {
#pragma unroll
    for (int n = 0; n < count; ++n) {
      const Strip s = strip_of(n);
      x[n] = {s.element(0), s.element(1), s.element(2), s.element(3)};
    }
    return;
  }
  float4 high[count];
#pragma unroll
  for (int n = 0; n < count; ++n) {
    const Strip s = strip_of(n);
    const float4* aligned = reinterpret_cast<const float4*>(s.run + s.at - s.behind());
    x[n] = aligned[0];
    high[n] = s.behind() == 0 ? x[n] : aligned[1];
  }
#pragma unroll
  for (int n = 0; n < count; ++n) x[n] = four_of(x[n], high[n], strip_of(n).behind());
}

// Where the tile of a block begins.
struct TurnPlace {
  long long outer, k;
};

// Strips of a thread.
inline constexpr int kTurnStrips = kTurnElements / 4 / kTurnThreads;

// Rows along k become rows along outer.
__device__ inline void turn_tile(const Turn& t, TurnPlace at) {
  constexpr int kAcross = kTurnAlongK.depth / 4, kDown = kTurnAlongK.outer / 4;  // strips
  // WHY the pitch: neighbours along outer, and four k of eight outer apart, lie in 32 banks.
  __shared__ float tile[kTurnAlongK.outer][kTurnAlongK.depth + 1];
  float4 x[kTurnStrips];
  load_strips(x, [&](int n) {
    const int i = threadIdx.x + n * kTurnThreads;
    const long long outer = at.outer + i / kAcross;
    return Strip{t.from + outer * t.from_outer, at.k + i % kAcross * 4, outer < t.outer ? t.k : 0};
  });
#pragma unroll
  for (int n = 0; n < kTurnStrips; ++n) {
    const int i = threadIdx.x + n * kTurnThreads;
    float* to = &tile[i / kAcross][i % kAcross * 4];
    to[0] = x[n].x, to[1] = x[n].y, to[2] = x[n].z, to[3] = x[n].w;
  }
  __syncthreads();
#pragma unroll
  for (int n = 0; n < kTurnStrips; ++n) {
    const int i = threadIdx.x + n * kTurnThreads;
    const int k = i / kDown, row = i % kDown * 4;
    if (at.k + k >= t.k) return;
    *reinterpret_cast<float4*>(t.to + (at.k + k) * t.ld + at.outer + row) = {
        tile[row][k], tile[row + 1][k], tile[row + 2][k], tile[row + 3][k]};
  }
}

// Rows along outer become aligned ones.
__device__ inline void align_tile(const Turn& t, TurnPlace at) {
  constexpr int kAcross = kTurnAlongOuter.outer / 4;  // strips
  const auto k_of = [&](int n) { return at.k + (threadIdx.x + n * kTurnThreads) / kAcross; };
  const long long outer = at.outer + threadIdx.x % kAcross * 4;
  float4 x[kTurnStrips];
  load_strips(x, [&](int n) {
    const long long k = k_of(n);
    return Strip{t.from + k * t.from_k, outer, k < t.k ? t.outer : 0};
  });
#pragma unroll
  for (int n = 0; n < kTurnStrips; ++n) {
    const long long k = k_of(n);
    if (k < t.k && outer < t.ld) *reinterpret_cast<float4*>(t.to + k * t.ld + outer) = x[n];
  }
}

// Grid: the tiles of A, then those of B.
__device__ inline void turn(const TurnParams& p) {
  ptx::launch_dependents();
  const bool is_a = blockIdx.x < p.a.tiles;
  const Turn& t = is_a ? p.a : p.b;
  const long long number = is_a ? blockIdx.x : blockIdx.x - p.a.tiles;
  // Neighbouring blocks read neighbours.
  if (t.from_k == 1) {
    constexpr int kOuter = kTurnAlongK.outer, kDepth = kTurnAlongK.depth;
    const long long across = (t.k + kDepth - 1) / kDepth;
    turn_tile(t, {number / across * kOuter, number % across * kDepth});
  } else {
    constexpr int kOuter = kTurnAlongOuter.outer, kDepth = kTurnAlongOuter.depth;
    const long long across = (t.outer + kOuter - 1) / kOuter;
    align_tile(t, {number % across * kOuter, number / across * kDepth});
  }
}

}  // namespace tessera::simt
