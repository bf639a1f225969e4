// Tensor maps as libraries pass them: in a struct, behind a pointer, in constant memory. Each
// kernel copies one box to shared memory and stores it.
#include "kernels/ptx/bulk_copy.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/mbarrier.h"
#include "kernels/ptx/tensor_copy.h"

namespace ptx = tessera::ptx;

struct Tile {
  int rows, columns;
  ptx::TensorMap map;
  float scale;
};

// As cuda.h of CUDA 13 aligns them.
struct alignas(128) MapOf13 {
  ptx::TensorMap map;
};
struct TileOf13 {
  int rows, columns;
  MapOf13 map;
  float scale;
};

__device__ void copy_box(float* out, const ptx::TensorMap& map, int n, float scale) {
  __shared__ alignas(128) float box[256];
  __shared__ ptx::Mbarrier full;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(full, 1);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(full, 4 * n);
    ptx::tensor_load<2>(box, map, {0, 1}, full);
  }
  ptx::mbarrier_wait_parity(full, 0);
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = scale * box[i];
}

__constant__ ptx::TensorMap constant_maps[2];
__constant__ TileOf13 constant_tile;

extern "C" {
__global__ void by_struct(float* out, const __grid_constant__ Tile tile) {
  copy_box(out, tile.map, tile.rows * tile.columns, tile.scale);
}
__global__ void by_pointer(float* out, const ptx::TensorMap* map, int n) {
  copy_box(out, *map, n, 1);
}
__global__ void by_pointers(float* out, const ptx::TensorMap* const* maps, int n) {
  copy_box(out + blockIdx.x * n, *maps[blockIdx.x], n, 1);
}
__global__ void by_copy(float* out, const ptx::TensorMap map, int n) { copy_box(out, map, n, 1); }
__global__ void stored(const __grid_constant__ ptx::TensorMap map, int x) {
  __shared__ alignas(128) float box[256];
  if (threadIdx.x != 0) return;
  for (int i = 0; i < 8; ++i) box[i] = static_cast<float>(i);
  ptx::fence_proxy_async_shared();
  ptx::tensor_store<2>(map, {x, 0}, box);
  ptx::bulk_commit_group();
  ptx::bulk_wait_group<0>();
}
__global__ void by_constant(float* out, int n) { copy_box(out, constant_maps[1], n, 1); }
__global__ void by_struct_of_13(float* out, const __grid_constant__ TileOf13 tile) {
  copy_box(out, tile.map.map, tile.rows * tile.columns, tile.scale);
}
__global__ void by_constant_of_13(float* out) {
  const TileOf13& tile = constant_tile;
  copy_box(out, tile.map.map, tile.rows * tile.columns, tile.scale);
}
}
