// Rung 44: stream-K. SMs compute whole tiles while there is one for each. The k tiles of all other
// tiles form one sequence, which is cut into equal runs, one per SM.
//
// Rung 39 needs as long for 128 tiles of D on 132 SMs as for 4 tiles, and twice as long for 136.
// Here a run begins and ends anywhere in a tile. A part of a tile's k gives partial sums, which go
// to a slot of the workspace; a second launch adds the slots of each tile in the order of k. There
// are no atomics, so every run of the program gives the same bits.
//
//   schedule/stream_k.h        the next work of a CTA: a tile, and a range of its k
//   passes/reduce_tiles.h      the second launch
#include "kernels/epilogue/panel_columns.h"
#include "kernels/passes/reduce_tiles.h"
#include "kernels/ptx/wgmma_n256.h"
#include "ladder/44_stream_k/config.h"
#include "ladder/shared/warpgroups.h"

namespace tessera::stream_k {

using schedule::Work;

// The entry point of the second launch, which adds the partial sums of split tiles.
template <int block_m, int block_n>
__device__ void reduce(const Params& p) {
  passes::reduce_tiles<ElementType::kBf16, block_m, block_n>(p);
}

template <Config cfg>
__device__ tile::Coord<> corner_of(const Work& work) {
  return {static_cast<int>(work.tile_m) * cfg.block.m, static_cast<int>(work.tile_n) * cfg.block.n};
}

// Stores a whole tile to D, or a part of a tile in FP32 to the part's slot.
template <Config cfg, class Sums>
__device__ void store(const Params& p, const Work& work, const Sums& sums, int row) {
  if (work.slot < 0) {
    const tile::Coord<> corner = corner_of<cfg>(work);
    return ladder::store_sums<cfg.block.n>(sums, p.gemm, corner.m, corner.n, row);
  }
  GemmParams slot{};
  slot.d = p.partials + work.slot * cfg.block.m * cfg.block.n;
  slot.m = cfg.block.m, slot.n = slot.d_row = cfg.block.n;
  slot.alpha = 1;
  const int of_warp = row + static_cast<int>(threadIdx.x) / 32 % 4 * epilogue::kWarpRows;
  epilogue::store_directly<ElementType::kF32, false, cfg.block.n>(sums, slot, of_warp, 0);
}

template <Config cfg>
__device__ void run(const Params& p) {
  static_assert(is_legal(cfg));
  if (p.schedule.k_tiles == 0) return epilogue::store_without_sums<ElementType::kBf16>(p.gemm);
  using W = ladder::Warpgroups<cfg>;
  static_assert(sizeof(typename W::Ring) <= cfg.shared_bytes());
  extern __shared__ __align__(1024) unsigned char memory[];
  auto& ring = *reinterpret_cast<typename W::Ring*>(memory);
  const int cta = static_cast<int>(blockIdx.x);
  const auto load = [&] {
    typename W::Position at;
    for (Work work = schedule::first(p.schedule, cta); work.valid;
         work = schedule::next(p.schedule, cta, work)) {
      mainloop::load_tiles<typename W::LoadA, typename W::LoadB, 2, false>(
          ring, at, p.a_map, p.b_map, corner_of<cfg>(work), work.k_begin, work.k_end - work.k_begin,
          ladder::kAlone, {0, 0});
    }
  };
  const auto multiply = [&](int consumer) {
    const int row = consumer * cfg.rows();
    const auto release = [&](int stage) { ring.release(stage, typename W::Place{0, 0}); };
    typename W::Sums sums;
    typename W::Position at;
    for (Work work = schedule::first(p.schedule, cta); work.valid;
         work = schedule::next(p.schedule, cta, work)) {
      mainloop::multiply_tiles<typename W::A, typename W::B>(
          sums, ring, at, work.k_end - work.k_begin, row, release, [] {});
      store<cfg>(p, work, sums, row);
    }
  };
  ladder::part_warpgroups<cfg>(ring, load, multiply);
}

}  // namespace tessera::stream_k
