// Every function of src/kernels/ptx/ once, behind a condition that no launch fulfils: what compiles
// and is understood here can be used. What the instructions do is tested elsewhere, one by one.
#include "kernels/ptx/bulk_copy.h"
#include "kernels/ptx/cluster.h"
#include "kernels/ptx/cp_async.h"
#include "kernels/ptx/elect.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/flag.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/ptx/ldmatrix.h"
#include "kernels/ptx/mma.h"
#include "kernels/ptx/named_barrier.h"
#include "kernels/ptx/registers.h"
#include "kernels/ptx/stmatrix.h"
#include "kernels/ptx/tensor_copy.h"
#include "kernels/ptx/wgmma.h"
#include "kernels/ptx/wgmma_descriptor.h"
#include "kernels/ptx/wgmma_n128.h"
#include "kernels/ptx/wgmma_n256.h"
#include "kernels/ptx/wgmma_n64.h"

namespace tessera::once {

using namespace ptx;

__device__ void copies(float* tile, float* global, Mbarrier* bar) {
  cp_async<4>(tile, global);
  cp_async<8>(tile, global, 4);
  cp_async<16>(tile, global);
  cp_async_past_l1(tile, global, 8);
  cp_async_commit_group();
  cp_async_wait_group<1>();
  cp_async_wait_all();
  cp_async_mbarrier_arrive(bar[0]);
  bulk_load(tile, global, 16, bar[0]);
  bulk_load_multicast(tile, global, 16, bar[0], 3);
  bulk_copy_to_cta(map_to_cta(tile, 1), tile, 16, *map_to_cta(bar, 1));
  bulk_store(global, tile, 16);
  bulk_add(global, tile, 16);
  bulk_commit_group();
  bulk_wait_group<0>();
  bulk_wait_group_read<1>();
}

__device__ void tensors(float* tile, const TensorMap& map, Mbarrier& bar) {
  prefetch_tensor_map(map);
  tensor_load(tile, map, {0}, bar);
  tensor_load(tile, map, {0, 1}, bar);
  tensor_load(tile, map, {0, 1, 2}, bar);
  tensor_load(tile, map, {0, 1, 2, 3}, bar);
  tensor_load(tile, map, {0, 1, 2, 3, 4}, bar);
  tensor_load_multicast(tile, map, {0, 1}, bar, 3);
  tensor_store(map, {1, 2}, tile);
  tensor_add(map, {1, 2}, tile);
}

__device__ void barriers(Mbarrier* bar, float* global, TensorMap* editable) {
  mbarrier_init(bar[0], 1);
  fence_mbarrier_init();
  fence_proxy_async_global();
  fence_proxy_async_shared();
  cluster_sync();
  cluster_arrive_relaxed();
  cluster_wait();
  mbarrier_arrive(bar[1]);
  mbarrier_arrive_cluster(*map_to_cta(&bar[1], cluster_rank() ^ 1));
  mbarrier_expect_tx(bar[0], 128);
  mbarrier_arrive_expect_tx(bar[0], 4096);
  mbarrier_wait_parity(bar[0], 0);
  mbarrier_wait_parity_cluster(bar[0], 1);
  mbarrier_inval(bar[0]);
  barrier_sync(1, 128);
  barrier_arrive(2, 256);
  tensor_map_replace_address(*editable, global);
  fence_tensormap_release();
  fence_tensormap_acquire(editable);
  release_registers_to<40>();
  acquire_registers_up_to<232>();
  launch_dependents();
  wait_for_prerequisites();
}

__device__ void fragments(float* tile, float* global) {
  std::uint32_t a[4] = {}, b[2] = {}, c[1] = {};
  ldmatrix(a, tile);
  ldmatrix(b, tile);
  ldmatrix(c, tile);
  stmatrix(tile, a);
  stmatrix(tile, b);
  stmatrix(tile, c);
  ldmatrix_transposed(a, tile);
  ldmatrix_transposed(b, tile);
  ldmatrix_transposed(c, tile);
  stmatrix_transposed(tile, a);
  float d[4] = {};
  mma_m16n8k16<MatrixType::kBF16>(d, a, b);
  mma_m16n8k16<MatrixType::kF16>(d, a, b);
  mma_m16n8k8_tf32(d, a, b);
  mma_m16n8k16_f16(b, a, b);
  double e[2] = {}, f[4] = {}, a8[8] = {}, a4[4] = {}, a2[2] = {};
  mma_m8n8k4(e, 1, 2);
  mma_m16n8k4(f, a2, 1);
  mma_m16n8k8(f, a4, a2);
  mma_m16n8k16(f, a8, a4);
  global[threadIdx.x] = static_cast<float>(d[0] + b[0] + e[0] + f[0]);
}

__device__ void products(const float* tile, float* global) {
  constexpr MatrixType kBf16 = MatrixType::kBF16, kF16 = MatrixType::kF16;
  const std::uint64_t x = wgmma_descriptor(tile, kRowsOf128Bytes);
  float n64[32] = {}, n128[64] = {}, n256[128] = {};
  std::uint32_t a[4] = {};
  pin(n64);
  pin(a);
  wgmma_fence();
  wgmma<kBf16>(n128, x, x, false);
  wgmma<kF16, Major::kMn, Major::kMn>(n128, x, x, true);
  wgmma<MatrixType::kTF32>(n64, x, x, true);
  wgmma<MatrixType::kE4M3>(n64, x, x, true);
  wgmma<kBf16, Major::kK, Major::kMn>(n256, x, x, true);
  wgmma<kBf16>(n128, a, x, true);
  wgmma<kF16, Major::kMn>(n64, a, x, true);
  wgmma_commit_group();
  wgmma_wait_group<0>();
  pin(n64);
  pin(n128);
  pin(n256);
  global[threadIdx.x] = n64[0] + n128[0] + n256[0];
}

}  // namespace tessera::once

extern "C" __global__ void every_instruction(const __grid_constant__ tessera::ptx::TensorMap map,
                                             tessera::ptx::TensorMap* editable, float* global,
                                             std::uint32_t* flag, int never) {
  using namespace tessera::once;
  __shared__ alignas(1024) float tile[1024];
  __shared__ Mbarrier bar[2];
  if (!never) return;
  if (elect_one()) {
    tensors(tile, map, bar[0]);
    copies(tile, global, bar);
  }
  barriers(bar, global, editable);
  fragments(tile, global);
  products(tile, global);
  store_release(flag, load_acquire(flag) + add_acquire_release(flag, cluster_size()));
}
