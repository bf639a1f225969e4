// The launch before a product of 16-bit operands that tensor copies cannot load, because their rows
// do not begin at multiples of 16 bytes: it copies each row to an aligned address. It transposes
// nothing, because wgmma takes both orders.
//
// Loads are aligned, and a thread shifts its elements out of two neighbouring vectors.
// TRIED (H200, two operands of 4095 x 4095): loads with an evict-first hint for L2 (ld.global.cs):
// fewer bytes are written, but the launch takes longer.
// TRIED: no copy, but eight tensor maps per operand, one for every eighth row, because these rows
// have the same misalignment. HW: a tensor copy with an innermost coordinate that is not a multiple
// of 16 bytes ends the kernel as an illegal instruction; and sixteen copies of 3 KB per stage have
// less than half of the throughput of two copies of 24 KB.
#pragma once

#include <cstdint>

#include "kernels/passes/params.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/tile/realign.h"

namespace tessera::passes {

// Eight neighbours in a row of `extent` adjacent elements, from index `at` on.
struct HalfWindow {
  const std::uint16_t* row;
  long long at, extent;

  // Returns the number of elements from the last multiple of 16 bytes to the window's begin.
  __device__ int behind() const {
    return static_cast<int>(reinterpret_cast<unsigned long long>(row + at) / 2 % 8);
  }
  // Whether the aligned vectors that contain the window are inside of the row.
  __device__ bool is_inside() const {
    const int first = behind();
    return at >= first && at - first + (first == 0 ? 8 : 16) <= extent;
  }
  __device__ std::uint32_t element(int i) const { return at + i < extent ? row[at + i] : 0; }
  __device__ std::uint32_t pair(int i) const { return element(i) | element(i + 1) << 16; }
};

// Copies one tile. Each warp copies four rows, so that a thread has eight loads in flight.
__device__ inline void align_halves(const Repack& t, long long outer, long long k) {
  constexpr int kRows = kRepackHalves.depth / (kRepackThreads / 32);
  const long long at = outer + threadIdx.x % 32 * 8, first = k + threadIdx.x / 32 * kRows;
  const auto window_of = [&](int n) {
    return HalfWindow{static_cast<const std::uint16_t*>(t.from) + (first + n) * t.from_k, at,
                      first + n < t.k ? t.outer : 0};
  };
  bool inside = true;
#pragma unroll
  for (int n = 0; n < kRows; ++n) inside &= window_of(n).is_inside();
  uint4 x[kRows];
  if (inside) {
    uint4 high[kRows];
#pragma unroll
    for (int n = 0; n < kRows; ++n) {
      const HalfWindow w = window_of(n);
      const uint4* aligned = reinterpret_cast<const uint4*>(w.row + w.at - w.behind());
      x[n] = aligned[0];
      high[n] = w.behind() == 0 ? x[n] : aligned[1];
    }
#pragma unroll
    for (int n = 0; n < kRows; ++n)
      x[n] = tile::realigned<std::uint16_t>(x[n], high[n], window_of(n).behind());
  } else {
#pragma unroll
    for (int n = 0; n < kRows; ++n) {
      const HalfWindow w = window_of(n);
      x[n] = {w.pair(0), w.pair(2), w.pair(4), w.pair(6)};
    }
  }
#pragma unroll
  for (int n = 0; n < kRows; ++n) {
    if (first + n >= t.k || at >= t.ld) continue;
    *reinterpret_cast<uint4*>(static_cast<std::uint16_t*>(t.to) + (first + n) * t.ld + at) = x[n];
  }
}

// The entry point. The grid has one CTA per tile of A, then one per tile of B.
__device__ inline void repack_halves(const RepackParams& p) {
  ptx::launch_dependents();
  const bool is_a = blockIdx.x < p.a.tiles;
  const Repack& t = is_a ? p.a : p.b;
  const long long number = is_a ? blockIdx.x : blockIdx.x - p.a.tiles;
  const long long across = (t.outer + kRepackHalves.outer - 1) / kRepackHalves.outer;
  align_halves(t, number % across * kRepackHalves.outer, number / across * kRepackHalves.depth);
}

}  // namespace tessera::passes
