// What the kernels of this family are given: one block. Tensor maps stand first, at multiples
// of 64.
#pragma once

#include "kernels/scheduler/stream_k.h"
#include "problem/params.h"

namespace tessera::simt {

struct SimtParams {
  TensorMap a_map, b_map;  // of operands that the copy engine fetches; else unused
  GemmParams gemm;
  scheduler::StreamK schedule;
  float* parts;  // partial sums: a block_m x block_n tile a slot, row-major
};

// One operand on its way into the form that tensor copies take: (k, outer), rows of `ld` floats.
struct Turn {
  const float* from;  // element (outer, k) at outer * from_outer + k * from_k
  float* to;
  long long outer, k;
  long long from_outer, from_k;  // one of them is 1
  long long ld;                  // a multiple of 4, at least outer
  long long tiles;               // kTurnTile x kTurnTile each; 0: this operand stays as it is
};
struct TurnParams {
  Turn a, b;
};
inline constexpr int kTurnTile = 64;
inline constexpr int kTurnThreads = 256;

// Of the launch that adds parts: blocks take pieces of cut tiles, four outputs a thread. As many
// blocks as start at once, since each more costs its start.
inline constexpr int kAddThreads = 256;
inline constexpr int kAddBlocks = 2;  // a multiprocessor
constexpr int add_pieces(int block_m, int block_n) {
  return (block_m * block_n / 4 + kAddThreads - 1) / kAddThreads;
}

}  // namespace tessera::simt
