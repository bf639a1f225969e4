// Parameters and tile shapes of the launches before and after a product. For host and device.
#pragma once

#include "kernels/schedule/stream_k.h"
#include "launch/params.h"

namespace tessera::passes {

// The copy of one operand into a layout that tensor copies can read: (k, outer) with rows of `ld`
// elements. For rows along k, the caller exchanges the roles of k and outer.
struct Repack {
  const void* from;  // element (outer, k) at outer * from_outer + k * from_k
  void* to;
  long long outer, k;
  long long from_outer, from_k;  // strides in elements; one of them is 1
  long long ld;                  // a multiple of kRepackedRow, at least outer
  long long tiles;               // number of repack_tile_of(from_k); 0: the operand is not copied
};
struct RepackParams {
  Repack a, b;
};

// The tile that a CTA copies: longer along the index that is contiguous in the source.
struct RepackTile {
  int outer, depth;
};
inline constexpr int kRepackElements = 2048, kRepackThreads = 256;
inline constexpr RepackTile kRepackAlongK{32, kRepackElements / 32};
inline constexpr RepackTile kRepackAlongOuter{128, kRepackElements / 128};
constexpr RepackTile repack_tile_of(long long from_k) {
  return from_k == 1 ? kRepackAlongK : kRepackAlongOuter;
}
inline constexpr int kRepackedRow = kRepackAlongK.outer;  // floats; ld is a multiple of this

// 16-bit operands are copied to aligned rows and never transposed. A warp copies 256 neighbouring
// elements of each of its rows.
inline constexpr RepackTile kRepackHalves{256, 32};
inline constexpr int kRepackedHalves = 64;  // elements in 128 bytes; ld is a multiple of this

// WHY a bound: compiled for four CTAs per SM, these kernels have registers for all of a thread's
// loads in flight; without it the compiler executes the loads one after the other.
inline constexpr int kPassCtasPerSm = 4;

// The launch that adds partial sums of split tiles: a CTA takes a piece of a tile, a thread four
// adjacent sums. If a tile has many partial sums, several threads each add a slice of them.
inline constexpr int kReduceThreads = 256;
inline constexpr int kReduceInFlight = 8;     // partial sums that a thread loads before it adds
inline constexpr int kMostReduceSlices = 32;  // with 32, a slice still loads lines of 128 bytes
constexpr int reduce_slices(const schedule::StreamK& s) {
  const int partials_per_tile =
      s.split_tiles() > 0 ? (s.runs + s.split_tiles() - 1) / s.split_tiles() : 1;
  int slices = 1;
  while (slices < kMostReduceSlices && slices * kReduceInFlight < partials_per_tile) slices *= 2;
  return slices;
}
constexpr int reduce_pieces(const schedule::StreamK& s, int block_m, int block_n) {
  const int vectors = kReduceThreads / reduce_slices(s);
  return (block_m * block_n / 4 + vectors - 1) / vectors;
}

// The launch that adds partial sums of a whole product whose k was split: one matrix of sums per
// part, one below the other. Several threads add the same four neighbours, one slice of parts each.
struct ReduceParts {
  GemmParams gemm;  // the problem: alpha and beta, C and D
  const float* partials;
  long long ld, part;  // floats between rows, and between the matrices of partial sums
  int parts;
  int slices;  // a power of two, at most kMostReduceSlices
};
constexpr int slices_of_parts(int parts) {
  int slices = 1;
  while (slices < kMostReduceSlices && slices * kReduceInFlight < parts) slices *= 2;
  return slices;
}

}  // namespace tessera::passes
