// Flags and counters in global memory, with which CTAs order their accesses: accesses before a
// release are visible to the CTA whose acquire reads the released value.
//
// WHY inline assembly: cuda::atomic_ref compiles to the same instructions on generic addresses, but
// with its header a small kernel takes 1.0 s to compile instead of 0.25 s.
#pragma once

#include <cstdint>

namespace tessera::ptx {

// Reads a flag with acquire semantics.                                   PTX ISA: ld.acquire.gpu
__device__ inline std::uint32_t load_acquire(const std::uint32_t* flag) {
  std::uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
               : "=r"(value)
               : "l"(__cvta_generic_to_global(flag))
               : "memory");
  return value;
}
// Writes a flag with release semantics.                                  PTX ISA: st.release.gpu
__device__ inline void store_release(std::uint32_t* flag, std::uint32_t value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(flag)), "r"(value)
               : "memory");
}
// Adds, and returns the previous value.                                 PTX ISA: atom.acq_rel.gpu
__device__ inline std::uint32_t add_acquire_release(std::uint32_t* counter, std::uint32_t value) {
  std::uint32_t before;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(counter)), "r"(value)
               : "memory");
  return before;
}

}  // namespace tessera::ptx
