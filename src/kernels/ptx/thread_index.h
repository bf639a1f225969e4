// The index of a thread in its block, read again where it is asked for.
//
// Inline assembly: what depends on threadIdx.x alone is otherwise computed ahead of loops and kept,
// although registers are short there and it is seldom used.
#pragma once

namespace tessera::ptx {

// threadIdx.x.                                                                    PTX ISA: %tid
__device__ inline int thread_index_again() {
  int index;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(index));
  return index;
}

}  // namespace tessera::ptx
