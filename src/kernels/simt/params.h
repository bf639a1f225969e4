// What the kernels of this family are given: one block. Tensor maps stand first, at multiples
// of 64.
#pragma once

#include "kernels/schedule/stream_k.h"
#include "launch/params.h"

namespace tessera::simt {

struct SimtParams {
  TensorMap a_map, b_map;  // of operands that the copy engine fetches; else unused
  GemmParams gemm;
  scheduler::StreamK schedule;
  // Tiles of block_m x block_n floats, row-major:
  float* parts;    // partial sums, one a slot
  float* scratch;  // what cannot go to D in 128-bit strips, one a CTA
};

// One operand on its way into the form that tensor copies take: (k, outer), rows of `ld` floats.
struct Turn {
  const float* from;  // element (outer, k) at outer * from_outer + k * from_k
  float* to;
  long long outer, k;
  long long from_outer, from_k;  // one of them is 1
  long long ld;                  // a multiple of kTurnedRow, at least outer
  long long tiles;               // of turn_tile_of(from_k); 0: this operand stays as it is
};
struct TurnParams {
  Turn a, b;
};
// What a block of that launch moves: more of the side along which the source lies.
struct TurnTile {
  int outer, depth;
};
inline constexpr int kTurnElements = 2048, kTurnThreads = 256;
inline constexpr TurnTile kTurnAlongK{32, kTurnElements / 32};
inline constexpr TurnTile kTurnAlongOuter{128, kTurnElements / 128};
constexpr TurnTile turn_tile_of(long long from_k) {
  return from_k == 1 ? kTurnAlongK : kTurnAlongOuter;
}
inline constexpr int kTurnedRow = kTurnAlongK.outer;  // floats: whole lines, whole tiles

// WHY: compiled for four blocks of a multiprocessor, the launches that turn and add have registers
// for all of a thread's loads; for any number of them the compiler reads one after the other.
inline constexpr int kHelperBlocks = 4;

// Of the launch that adds parts: a block takes a piece of a cut tile, four neighbouring sums a
// thread. Where a tile has many parts, several threads share them, a slice of them each.
inline constexpr int kAddThreads = 256;
inline constexpr int kAddInFlight = 8;  // parts that a thread reads before it adds
inline constexpr int kMostSlices = 32;  // then a slice still reads whole lines of 128 bytes
constexpr int add_slices(const scheduler::StreamK& s) {
  const int parts_a_tile = s.cut_tiles() > 0 ? (s.runs + s.cut_tiles() - 1) / s.cut_tiles() : 1;
  int slices = 1;
  while (slices < kMostSlices && slices * kAddInFlight < parts_a_tile) slices *= 2;
  return slices;
}
constexpr int add_pieces(const scheduler::StreamK& s, int block_m, int block_n) {
  const int strips = kAddThreads / add_slices(s);
  return (block_m * block_n / 4 + strips - 1) / strips;
}

}  // namespace tessera::simt
