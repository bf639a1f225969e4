// Copies of boxes of a tensor by the copy engine (sm_90). A tensor map describes the tensor's
// address and strides, the size of a box, and the swizzle of its rows in shared memory. Coordinates
// are signed, in elements, innermost first. Elements outside of the tensor are loaded as zeros and
// not stored; a load always reports the bytes of the whole box.
//
// The functions wrap libcu++, except for the prefetch of a map.
#pragma once

#include <cstdint>
#include <cuda/ptx>

#include "kernels/ptx/mbarrier.h"
#include "launch/params.h"

namespace tessera::ptx {

using tessera::TensorMap;  // passed to kernels as const __grid_constant__

// Loads a box to shared memory of this CTA, aligned to 128 bytes (1024 for a 128-byte swizzle).
// There are one to five coordinates, for example {k, row}.
// PTX ISA: cp.async.bulk.tensor
template <int kRank>
__device__ inline void tensor_load(void* to_shared, const TensorMap& map,
                                   const std::int32_t (&at)[kRank], Mbarrier& arrived) {
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_cluster, cuda::ptx::space_global, to_shared,
                                  &map, at, &arrived);
}

// Loads a box to the same offset in each CTA of the bit mask `ctas`, and in each of these CTAs
// reports to the barrier at the offset of `arrived`.
template <int kRank>
__device__ inline void tensor_load_multicast(void* to_shared, const TensorMap& map,
                                             const std::int32_t (&at)[kRank], Mbarrier& arrived,
                                             std::uint16_t ctas) {
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_cluster, cuda::ptx::space_global, to_shared,
                                  &map, at, &arrived, ctas);
}

// Stores a box from shared memory. A thread waits as for bulk stores: with bulk_commit_group etc.
template <int kRank>
__device__ inline void tensor_store(const TensorMap& map, const std::int32_t (&at)[kRank],
                                    const void* from_shared) {
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_global, cuda::ptx::space_shared, &map, at,
                                  from_shared);
}

// Adds a box of shared memory to the tensor, each element atomically.
// PTX ISA: cp.reduce.async.bulk.tensor
template <int kRank>
__device__ inline void tensor_add(const TensorMap& map, const std::int32_t (&at)[kRank],
                                  const void* from_shared) {
  cuda::ptx::cp_reduce_async_bulk_tensor(cuda::ptx::space_global, cuda::ptx::space_shared,
                                         cuda::ptx::op_add, &map, at, from_shared);
}

// Prefetches the map itself before its first use.               PTX ISA: prefetch.tensormap
__device__ inline void prefetch_tensor_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" : : "l"(&map) : "memory");
}

// Changes a map in global memory to another tensor of the same shape. Users need the fences of
// fence.h, and no copy with the old map may be running.         PTX ISA: tensormap.replace
__device__ inline void tensor_map_replace_address(TensorMap& map, const void* tensor) {
  cuda::ptx::tensormap_replace_global_address(cuda::ptx::space_global, &map,
                                              reinterpret_cast<std::uint64_t>(tensor));
}

}  // namespace tessera::ptx
