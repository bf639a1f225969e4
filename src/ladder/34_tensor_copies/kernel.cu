// Rung 34: one thread starts tensor copies that load the tiles, and the copy engine swizzles them.
//
// Rung 33 was limited by its copies: for each tile a thread computes 16 global and 16 shared
// addresses, with bounds. A tensor map states the operand's address and strides once; a copy then
// takes two coordinates. Elements outside the matrix are filled with zeros, so tails need no
// guard. The copies report their bytes to a barrier object, on which all threads wait.
#include "kernels/ptx/wgmma_n128.h"
#include "ladder/34_tensor_copies/config.h"
#include "ladder/shared/common.h"
#include "ladder/shared/warpgroups.h"

namespace tessera::tensor_copies {

template <Config cfg>
struct Shared {
  typename ladder::Warpgroups<cfg>::A a;
  typename ladder::Warpgroups<cfg>::B b;
  ptx::Mbarrier tile_loaded;
};

// One thread loads the tiles of A and B that begin at (row, k) and (k, col).
template <Config cfg>
__device__ void load(Shared<cfg>& shared, const Params& p, int row, int col, int k) {
  using W = ladder::Warpgroups<cfg>;
  ptx::mbarrier_arrive_expect_tx(shared.tile_loaded, W::A::kBytes + W::B::kBytes);
  W::LoadA::load(shared.a, p.a_map, row, k, shared.tile_loaded, ladder::kAlone.a);
  W::LoadB::load(shared.b, p.b_map, col, k, shared.tile_loaded, ladder::kAlone.b);
}

template <Config cfg>
__device__ void run(const Params& p) {
  static_assert(is_legal(cfg) && sizeof(Shared<cfg>) <= cfg.shared_bytes());
  if (p.k_tiles == 0) return epilogue::store_without_sums<ElementType::kBf16>(p.gemm);
  using W = ladder::Warpgroups<cfg>;
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<cfg>*>(memory);
  const ladder::BlockOrigin origin = ladder::block_origin(p.gemm, cfg.block.m, cfg.block.n);
  const int row = static_cast<int>(origin.row), col = static_cast<int>(origin.col);
  const std::uint64_t a = W::A::descriptor(ptx::shared_address(&shared.a));
  const std::uint64_t b = W::B::descriptor(ptx::shared_address(&shared.b));
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(shared.tile_loaded, 1);
    ptx::fence_mbarrier_init();
    ptx::fence_proxy_async_shared();
  }
  __syncthreads();

  typename W::Sums sums;
#pragma unroll 1
  for (int tile = 0; tile < p.k_tiles; ++tile) {
    if (threadIdx.x == 0) load<cfg>(shared, p, row, col, tile * cfg.block.k);
    ptx::mbarrier_wait_parity(shared.tile_loaded, tile % 2);
    sums.pin();
    ptx::wgmma_fence();
    mainloop::multiply_stage<typename W::A, typename W::B>(sums, a, b, tile == 0);
    ptx::wgmma_wait_group<0>();
    sums.pin();
    __syncthreads();  // all warps have read the tiles
  }
  ladder::store_sums<cfg.block.n>(sums, p.gemm, row, col, 0);
}

}  // namespace tessera::tensor_copies
