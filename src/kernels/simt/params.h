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

// Of the launch that adds parts: kAddPieces blocks of kAddThreads threads share one cut tile.
inline constexpr int kAddThreads = 256;
inline constexpr int kAddPieces = 16;

}  // namespace tessera::simt
