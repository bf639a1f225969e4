// Rung 35: a ring of stages. The next tiles are loaded while one is multiplied.
//
// Rung 34 was limited by waiting: a load starts when the previous tile has been multiplied, and the
// tensor cores are idle until it ends. Here the first thread starts loads for all stages of the
// ring, and another load whenever a stage becomes free. One group of wgmma stays in flight, so the
// tensor cores always have the next group queued.
//
//   tile_loaded[stage]      the stage's bytes have arrived
//   tile_consumed[stage]    all four warps have finished with it
//
//   pipeline/mbarrier_ring.h   the ring and both barriers
//   mainloop/wgmma.h           multiply_tiles(): waits, multiplies and releases, tile by tile
#include "kernels/ptx/wgmma_n128.h"
#include "ladder/35_ring_of_stages/config.h"
#include "ladder/shared/common.h"
#include "ladder/shared/warpgroups.h"

namespace tessera::ring_of_stages {

// Loads the k tiles of one tile of D in order. Only the first thread uses it.
template <Config cfg>
class Loader {
 public:
  using W = ladder::Warpgroups<cfg>;

  __device__ Loader(typename W::Ring& ring, const Params& p, tile::Coord<> corner)
      : ring_(ring), p_(p), corner_(corner) {}

  // Waits until the next stage is free, and starts the copies of the next tile.
  __device__ void load_next() {
    if (next_ == p_.k_tiles) return;
    mainloop::load_tiles<typename W::LoadA, typename W::LoadB, 2, false>(
        ring_, at_, p_.a_map, p_.b_map, corner_, next_++, 1, ladder::kAlone, {0, 0});
  }

 private:
  typename W::Ring& ring_;
  const Params& p_;
  tile::Coord<> corner_;
  typename W::Position at_;
  int next_ = 0;
};

template <Config cfg>
__device__ void run(const Params& p) {
  static_assert(is_legal(cfg));
  if (p.k_tiles == 0) return epilogue::store_without_sums<ElementType::kBf16>(p.gemm);
  using W = ladder::Warpgroups<cfg>;
  static_assert(sizeof(typename W::Ring) <= cfg.shared_bytes());
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& ring = *reinterpret_cast<typename W::Ring*>(memory);
  const ladder::BlockOrigin origin = ladder::block_origin(p.gemm, cfg.block.m, cfg.block.n);
  const bool loads = threadIdx.x == 0;
  if (loads) {
    ring.init(4);
    ptx::fence_mbarrier_init();
    ptx::fence_proxy_async_shared();
  }
  __syncthreads();

  Loader<cfg> loader(ring, p, {static_cast<int>(origin.row), static_cast<int>(origin.col)});
  for (int stage = 0; stage < cfg.stages; ++stage) {
    if (loads) loader.load_next();
  }
  __syncwarp();
  typename W::Sums sums;
  typename W::Position at;
  const auto release = [&](int stage) {
    ring.release(stage, typename W::Place{0, 0});
    if (loads) loader.load_next();
    __syncwarp();
  };
  mainloop::multiply_tiles<typename W::A, typename W::B>(sums, ring, at, p.k_tiles, 0, release,
                                                         [] {});
  ladder::store_sums<cfg.block.n>(sums, p.gemm, origin.row, origin.col, 0);
}

}  // namespace tessera::ring_of_stages
