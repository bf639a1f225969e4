// Programmatic dependent launch (sm_90): the next kernel of a stream starts while this one ends.
//
// WHY inline assembly: libcu++ has no such functions.
#pragma once

namespace tessera::ptx {

// Allows kernels that depend on this one to start.          PTX ISA: griddepcontrol
__device__ inline void launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
// Waits until the previous kernels have finished and their results are visible.
__device__ inline void wait_for_prerequisites() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

}  // namespace tessera::ptx
