// Moves registers between the warpgroups of a CTA (sm_90a): producers release registers, consumers
// acquire them. All warps of a warpgroup must execute setmaxnreg, with the same number.
//
// WHY inline assembly: libcu++ has no such function.
#pragma once

namespace tessera::ptx {

// Lowers the limit to kRegisters per thread: a multiple of 8, 24 to 256.  PTX ISA: setmaxnreg
template <int kRegisters>
__device__ inline void release_registers_to() {
  static_assert(kRegisters % 8 == 0 && kRegisters >= 24 && kRegisters <= 256);
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(kRegisters));
}
// Raises the limit to kRegisters per thread; waits until enough registers are free.
template <int kRegisters>
__device__ inline void acquire_registers_up_to() {
  static_assert(kRegisters % 8 == 0 && kRegisters >= 24 && kRegisters <= 256);
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(kRegisters));
}

}  // namespace tessera::ptx
