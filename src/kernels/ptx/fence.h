// Fences between memory proxies. Threads access memory through the generic proxy; bulk copies,
// tensor copies and wgmma access shared memory through the async proxy, and read tensor maps
// through a third one. A barrier alone orders only accesses of one proxy.
//
// The functions wrap libcu++.
#pragma once

#include <cuda/ptx>

namespace tessera::ptx {

// Orders earlier accesses to global memory, of this thread or visible to it, before later accesses
// of the async proxy.                                     PTX ISA: fence.proxy.async.global
__device__ inline void fence_proxy_async_global() {
  cuda::ptx::fence_proxy_async(cuda::ptx::space_global);
}

// Like fence_proxy_async_global, for shared memory.
__device__ inline void fence_proxy_async_shared() {
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
}

// Makes initialised barriers visible to the cluster and to copies that signal them; a cluster
// barrier must follow.                                  PTX ISA: fence.mbarrier_init
__device__ inline void fence_mbarrier_init() {
  cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
}

// Fences between a change of a tensor map in memory and its next use: the thread that changed it
// releases, each user acquires.                         PTX ISA: fence.proxy.tensormap::generic
__device__ inline void fence_tensormap_release() {
  cuda::ptx::fence_proxy_tensormap_generic(cuda::ptx::sem_release, cuda::ptx::scope_gpu);
}
__device__ inline void fence_tensormap_acquire(const void* map) {
  cuda::ptx::fence_proxy_tensormap_generic(cuda::ptx::sem_acquire, cuda::ptx::scope_gpu, map,
                                           cuda::ptx::n32_t<128>{});
}

}  // namespace tessera::ptx
