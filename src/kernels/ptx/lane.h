#pragma once

namespace tessera::ptx {

// The thread's lane of its warp. WHY volatile: it is read anew at each place, so that what follows
// from it occupies no registers between two of them.                       PTX ISA: %laneid
__device__ inline int lane_anew() {
  int lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

}  // namespace tessera::ptx
