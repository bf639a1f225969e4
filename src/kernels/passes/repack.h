// The launch before a product with operands that tensor copies cannot load: an operand that is
// contiguous along k, or has rows at other than multiples of 16 bytes, is copied into aligned rows
// along m (or n).
//
// A CTA copies one tile. Rows along k are transposed in shared memory, so that loads and stores are
// whole lines of 128 bytes; rows along m (or n) only go through registers. TRIED (H200, 4096 x
// 4096), slowest first: 4 x 4 squares transposed in registers, storing half lines; 32 x 32 tiles;
// such squares, loading half lines and storing whole lines; 64 x 64 tiles; this tile.
#pragma once

#include "kernels/passes/params.h"
#include "kernels/ptx/griddepcontrol.h"

namespace tessera::passes {

// Four neighbours in a row of `extent` adjacent floats, from index `at` on.
struct Window {
  const float* row;
  long long at, extent;

  // Returns the number of floats from the last multiple of 16 bytes to the window's begin.
  __device__ int behind() const {
    return static_cast<int>(reinterpret_cast<unsigned long long>(row + at) / sizeof(float) % 4);
  }
  // Whether the aligned vectors that contain the window are inside of the row.
  __device__ bool is_inside() const {
    const int first = behind();
    return at >= first && at - first + (first == 0 ? 4 : 8) <= extent;
  }
  __device__ float element(int i) const { return at + i < extent ? row[at + i] : 0; }
};

__device__ inline float4 four_of(float4 low, float4 high, int behind) {
  if (behind == 1) return {low.y, low.z, low.w, high.x};
  if (behind == 2) return {low.z, low.w, high.x, high.y};
  if (behind == 3) return {low.w, high.x, high.y, high.z};
  return low;
}

// Loads windows at any alignment: by 128-bit loads, all in flight together, if that is possible for
// all windows of the thread. TRIED: element by element: unaligned rows then took longer than
// aligned ones.
template <int count, class WindowOf>
__device__ void load_vectors(float4 (&x)[count], WindowOf window_of) {
  bool inside = true;
#pragma unroll
  for (int n = 0; n < count; ++n) inside &= window_of(n).is_inside();
  if (!inside) {
#pragma unroll
    for (int n = 0; n < count; ++n) {
      const Window w = window_of(n);
      x[n] = {w.element(0), w.element(1), w.element(2), w.element(3)};
    }
    return;
  }
  float4 high[count];
#pragma unroll
  for (int n = 0; n < count; ++n) {
    const Window w = window_of(n);
    const float4* aligned = reinterpret_cast<const float4*>(w.row + w.at - w.behind());
    x[n] = aligned[0];
    high[n] = w.behind() == 0 ? x[n] : aligned[1];
  }
#pragma unroll
  for (int n = 0; n < count; ++n) x[n] = four_of(x[n], high[n], window_of(n).behind());
}

// The first element of a CTA's tile.
struct RepackOrigin {
  long long outer, k;
};

// Vectors of four floats that each thread copies.
inline constexpr int kRepackVectors = kRepackElements / 4 / kRepackThreads;

// Copies a tile, and transposes rows along k to rows along outer.
__device__ inline void transpose_tile(const Repack& t, RepackOrigin at) {
  constexpr int kAcross = kRepackAlongK.depth / 4, kDown = kRepackAlongK.outer / 4;  // vectors
  // WHY + 1: neighbours along outer, and four k of every fourth outer, are in 32 different banks.
  __shared__ float tile[kRepackAlongK.outer][kRepackAlongK.depth + 1];
  float4 x[kRepackVectors];
  load_vectors(x, [&](int n) {
    const int i = threadIdx.x + n * kRepackThreads;
    const long long outer = at.outer + i / kAcross;
    return Window{static_cast<const float*>(t.from) + outer * t.from_outer, at.k + i % kAcross * 4,
                  outer < t.outer ? t.k : 0};
  });
#pragma unroll
  for (int n = 0; n < kRepackVectors; ++n) {
    const int i = threadIdx.x + n * kRepackThreads;
    float* to = &tile[i / kAcross][i % kAcross * 4];
    to[0] = x[n].x, to[1] = x[n].y, to[2] = x[n].z, to[3] = x[n].w;
  }
  __syncthreads();
#pragma unroll
  for (int n = 0; n < kRepackVectors; ++n) {
    const int i = threadIdx.x + n * kRepackThreads;
    const int k = i / kDown, row = i % kDown * 4;
    if (at.k + k >= t.k) return;
    *reinterpret_cast<float4*>(static_cast<float*>(t.to) + (at.k + k) * t.ld + at.outer + row) = {
        tile[row][k], tile[row + 1][k], tile[row + 2][k], tile[row + 3][k]};
  }
}

// Copies a tile with rows along outer to aligned rows.
__device__ inline void align_tile(const Repack& t, RepackOrigin at) {
  constexpr int kAcross = kRepackAlongOuter.outer / 4;  // vectors
  const auto k_of = [&](int n) { return at.k + (threadIdx.x + n * kRepackThreads) / kAcross; };
  const long long outer = at.outer + threadIdx.x % kAcross * 4;
  float4 x[kRepackVectors];
  load_vectors(x, [&](int n) {
    const long long k = k_of(n);
    return Window{static_cast<const float*>(t.from) + k * t.from_k, outer, k < t.k ? t.outer : 0};
  });
#pragma unroll
  for (int n = 0; n < kRepackVectors; ++n) {
    const long long k = k_of(n);
    if (k >= t.k || outer >= t.ld) continue;
    *reinterpret_cast<float4*>(static_cast<float*>(t.to) + k * t.ld + outer) = x[n];
  }
}

// The entry point. The grid has one CTA per tile of A, then one per tile of B.
__device__ inline void repack(const RepackParams& p) {
  ptx::launch_dependents();
  const bool is_a = blockIdx.x < p.a.tiles;
  const Repack& t = is_a ? p.a : p.b;
  const long long number = is_a ? blockIdx.x : blockIdx.x - p.a.tiles;
  // Neighbouring CTAs read neighbouring tiles along the contiguous index.
  if (t.from_k == 1) {
    constexpr int kOuter = kRepackAlongK.outer, kDepth = kRepackAlongK.depth;
    const long long across = (t.k + kDepth - 1) / kDepth;
    transpose_tile(t, {number / across * kOuter, number % across * kDepth});
  } else {
    constexpr int kOuter = kRepackAlongOuter.outer, kDepth = kRepackAlongOuter.depth;
    const long long across = (t.outer + kOuter - 1) / kOuter;
    align_tile(t, {number % across * kOuter, number / across * kDepth});
  }
}

}  // namespace tessera::passes
