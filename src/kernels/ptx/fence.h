// Orders between memory proxies. Threads reach memory through the generic proxy; bulk copies,
// tensor copies and wgmma reach shared memory through the async proxy, and read tensor maps through
// a third one. A barrier alone orders accesses of one proxy.
//
// From libcu++.
#pragma once

#include <cuda/ptx>

namespace tessera::ptx {

// Accesses of this thread to global memory, and those it knows of, come before later ones of the
// async proxy.                                                  PTX ISA: fence.proxy.async.global
__device__ inline void fence_proxy_async_global() {
  cuda::ptx::fence_proxy_async(cuda::ptx::space_global);
}

// The same for shared memory.
__device__ inline void fence_proxy_async_shared() {
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
}

// Initialised barriers become visible to the cluster and to copies that signal them; a cluster
// barrier must follow.                                  PTX ISA: fence.mbarrier_init
__device__ inline void fence_mbarrier_init() {
  cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
}

// Between an edit of a tensor map in memory and its next use: the editor releases it, each user
// acquires it.                                          PTX ISA: fence.proxy.tensormap::generic
__device__ inline void fence_tensormap_release() {
  cuda::ptx::fence_proxy_tensormap_generic(cuda::ptx::sem_release, cuda::ptx::scope_gpu);
}
__device__ inline void fence_tensormap_acquire(const void* map) {
  cuda::ptx::fence_proxy_tensormap_generic(cuda::ptx::sem_acquire, cuda::ptx::scope_gpu, map,
                                           cuda::ptx::n32_t<128>{});
}

}  // namespace tessera::ptx
