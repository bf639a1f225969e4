// Programmatic dependent launch (sm_90): the next kernel of a stream starts while this one ends.
//
// Own assembly: libcu++ has no such functions.
#pragma once

namespace tessera::ptx {

// The kernels that depend on this one may be scheduled.     PTX ISA: griddepcontrol
__device__ inline void launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
// Returns when the kernels before have finished and their memory is visible.
__device__ inline void wait_for_prerequisites() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

}  // namespace tessera::ptx
