// Copies of contiguous bytes by the copy engine (sm_90), started by one thread. Sizes and addresses
// are multiples of 16. Loads report their bytes to an mbarrier; stores are collected in groups of
// the issuing thread, separate from the groups of cp.async.
//
// The functions wrap libcu++.
#pragma once

#include <cstdint>
#include <cuda/ptx>

#include "kernels/ptx/mbarrier.h"

namespace tessera::ptx {

// Copies global memory to shared memory of this CTA.                    PTX ISA: cp.async.bulk
__device__ inline void bulk_load(void* to_shared, const void* from_global, std::uint32_t bytes,
                                 Mbarrier& arrived) {
  cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, to_shared,
                           from_global, bytes, &arrived);
}

// Copies to the same offset in each CTA of the bit mask `ctas`, and in each of these CTAs reports
// to the barrier at the offset of `arrived`.
__device__ inline void bulk_load_multicast(void* to_shared, const void* from_global,
                                           std::uint32_t bytes, Mbarrier& arrived,
                                           std::uint16_t ctas) {
  cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, to_shared,
                           from_global, bytes, &arrived, ctas);
}

// Copies shared memory of this CTA to another CTA of the cluster, where `arrived` is, too.
__device__ inline void bulk_copy_to_cta(void* to_remote, const void* from_shared,
                                        std::uint32_t bytes, Mbarrier& arrived) {
  cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_shared, to_remote,
                           from_shared, bytes, &arrived);
}

// Copies shared memory to global memory.
__device__ inline void bulk_store(void* to_global, const void* from_shared, std::uint32_t bytes) {
  cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, to_global, from_shared,
                           bytes);
}

// Adds shared memory to global memory, each element atomically.  PTX ISA: cp.reduce.async.bulk
__device__ inline void bulk_add(float* to_global, const float* from_shared, std::uint32_t bytes) {
  cuda::ptx::cp_reduce_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared,
                                  cuda::ptx::op_add, to_global, from_shared, bytes);
}

// Closes the thread's current group of stores.             PTX ISA: cp.async.bulk.commit_group
__device__ inline void bulk_commit_group() { cuda::ptx::cp_async_bulk_commit_group(); }

// Waits until at most the newest kPending groups are unfinished.  PTX ISA: cp.async.bulk.wait_group
template <int kPending>
__device__ inline void bulk_wait_group() {
  cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<kPending>{});
}

// Like bulk_wait_group, but waits only until the sources have been read: shared memory may then be
// written again, while the results may not yet be in global memory.
template <int kPending>
__device__ inline void bulk_wait_group_read() {
  cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<kPending>{});
}

}  // namespace tessera::ptx
