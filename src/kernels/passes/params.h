// Parameters and shapes of the launches before and after a product. For host and device.
#pragma once

#include "kernels/schedule/stream_k.h"
#include "launch/params.h"

namespace tessera::passes {

// One operand on its way into the form that tensor copies take: (k, outer), rows of `ld` elements.
// Who wants rows along k exchanges the names.
struct Repack {
  const void* from;  // element (outer, k) at outer * from_outer + k * from_k
  void* to;
  long long outer, k;
  long long from_outer, from_k;  // one of them is 1
  long long ld;                  // a multiple of kRepackedRow, at least outer
  long long tiles;               // of repack_tile_of(from_k); 0: this operand stays as it is
};
struct RepackParams {
  Repack a, b;
};

// The tile that a CTA moves: longer along the index that is contiguous in the source.
struct RepackTile {
  int outer, depth;
};
inline constexpr int kRepackElements = 2048, kRepackThreads = 256;
inline constexpr RepackTile kRepackAlongK{32, kRepackElements / 32};
inline constexpr RepackTile kRepackAlongOuter{128, kRepackElements / 128};
constexpr RepackTile repack_tile_of(long long from_k) {
  return from_k == 1 ? kRepackAlongK : kRepackAlongOuter;
}
inline constexpr int kRepackedRow = kRepackAlongK.outer;  // floats: whole lines, whole tiles

// Elements of 16 bits are aligned, never transposed: a warp moves 256 neighbours of each of its
// rows.
inline constexpr RepackTile kRepackHalves{256, 32};
inline constexpr int kRepackedHalves = 64;  // a row of whole lines

// WHY: compiled for four CTAs per SM, these launches have registers for all of a thread's loads;
// without a bound the compiler reads one after the other.
inline constexpr int kPassCtasPerSm = 4;

// The launch that adds partial sums: a CTA takes a piece of a split tile, four neighbouring sums
// per thread. Where a tile has many partial sums, several threads share them, one slice each.
inline constexpr int kReduceThreads = 256;
inline constexpr int kReduceInFlight = 8;     // partial sums that a thread reads before it adds
inline constexpr int kMostReduceSlices = 32;  // then a slice still reads whole lines of 128 bytes
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

// The launch that adds the parts of k of a whole product: `parts` matrices of partial sums, one
// below the other. Several threads share four neighbouring sums, one slice of the parts each.
struct ReduceParts {
  GemmParams gemm;  // what is wanted: alpha and beta, C and D
  const float* partials;
  long long ld, part;  // floats from row to row, from matrix to matrix
  int parts;
  int slices;  // a power of two, at most kMostReduceSlices
};
constexpr int slices_of_parts(int parts) {
  int slices = 1;
  while (slices < kMostReduceSlices && slices * kReduceInFlight < parts) slices *= 2;
  return slices;
}

}  // namespace tessera::passes
