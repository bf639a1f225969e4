// The lane of a thread, and the election of one lane, for example to start copies or to arrive once
// for the warp.
//
// WHY inline assembly: libcu++ has no such functions.
#pragma once

#include <cstdint>

namespace tessera::ptx {

// True in exactly one lane; all 32 must call it.                        PTX ISA: elect.sync
__device__ inline bool elect_one() {
  std::uint32_t elected;
  asm volatile(
      "{\n\t.reg .pred elected;\n\t"
      "elect.sync _|elected, 0xffffffff;\n\t"
      "selp.b32 %0, 1, 0, elected;\n\t}"
      : "=r"(elected)
      :
      : "memory");
  return elected != 0;
}

// The thread's lane. WHY volatile: each call reads the lane anew, so that no value derived from the
// lane stays in a register between calls.                             PTX ISA: %laneid
__device__ inline int lane_anew() {
  int lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

}  // namespace tessera::ptx
