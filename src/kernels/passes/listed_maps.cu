// The launch before a batch of products whose matrices are at listed addresses. A tensor copy needs
// a tensor map with the address of its matrix, which only the device can read from the list. So
// this launch writes a tensor map for each matrix. All maps of an operand differ in the address
// alone: each is a copy of the map that the host has made, with another address.
//
// A thread makes one map. The next launch must acquire each map before its first use (ptx/fence.h).
#include "kernels/passes/listed_maps_params.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/ptx/tensor_copy.h"

namespace tessera::passes {

__device__ inline void make_map(TensorMap& to, const TensorMap& shape, const void* matrix) {
  constexpr int kPieces = sizeof(TensorMap) / sizeof(ulonglong2);
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    reinterpret_cast<ulonglong2*>(&to)[i] = reinterpret_cast<const ulonglong2*>(&shape)[i];
  }
  ptx::tensor_map_replace_address(to, matrix);
}

// The entry point. The grid's threads share the maps of all operands.
__device__ inline void make_maps(const ListedMapsParams& p) {
  ptx::launch_dependents();
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
#pragma unroll
  for (int operand = 0; operand < kMappedOperands; ++operand) {
    const auto* matrices = static_cast<const void* const*>(p.lists[operand]);
    if (matrices == nullptr) continue;
    for (long long i = first; i < p.products; i += step) {
      make_map(p.maps[operand * p.products + i], p.shapes[operand], matrices[i]);
    }
  }
  ptx::fence_tensormap_release();
}

}  // namespace tessera::passes
