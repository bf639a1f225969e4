// Code that rungs 34 to 44 share: the types of tiles and sums for a config, and the start of a
// kernel that has one warpgroup to load and others to multiply.
#pragma once

#include "kernels/mainloop/wgmma.h"
#include "kernels/ptx/cluster.h"
#include "kernels/ptx/elect.h"
#include "kernels/ptx/registers.h"
#include "kernels/schedule/cluster.h"
#include "ladder/shared/store_sums.h"
#include "ladder/shared/warpgroup_config.h"

namespace tessera::ladder {

template <WarpgroupConfig cfg>
struct Warpgroups {
  static constexpr auto kType = ptx::MatrixType::kBF16;
  static constexpr auto kMajorA = cfg.majors.a == Major::kK ? ptx::Major::kK : ptx::Major::kMn;
  static constexpr auto kMajorB = cfg.majors.b == Major::kK ? ptx::Major::kK : ptx::Major::kMn;
  using A = tile::SharedTile<kType, cfg.block.m, cfg.block.k, kMajorA>;  // (m, k)
  using B = tile::SharedTile<kType, cfg.block.n, cfg.block.k, kMajorB>;  // (n, k)
  using LoadA = copy::TmaTile<A, cfg.cluster.n>;
  using LoadB = copy::TmaTile<B, cfg.cluster.m>;
  using Sums = tile::Accumulators<cfg.rows(), cfg.block.n>;
  using Ring = pipeline::MbarrierRing<A, B, cfg.stages>;
  using Position = pipeline::Position<cfg.stages>;
  using Place = schedule::ClusterPlace<cfg.cluster>;
};

// The shares of a CTA that shares no tiles with others.
inline constexpr mainloop::Shares kAlone{{0, 1}, {0, 1}};

// One thread loads the k tiles of one tile of D.
template <WarpgroupConfig cfg>
__device__ void load_tiles(typename Warpgroups<cfg>::Ring& ring,
                           typename Warpgroups<cfg>::Position& at, const WarpgroupParams& p,
                           tile::Coord<> corner, mainloop::Shares shares = kAlone) {
  using W = Warpgroups<cfg>;
  mainloop::load_tiles<typename W::LoadA, typename W::LoadB, 2, false>(
      ring, at, p.a_map, p.b_map, corner, 0, p.k_tiles, shares, {0, 0});
}

// A warpgroup computes its sums of one tile of D; the warpgroup's rows begin at `row` of the tile.
// `last_started`: see mainloop/wgmma.h.
template <WarpgroupConfig cfg, class LastStarted>
__device__ void multiply_tiles(typename Warpgroups<cfg>::Sums& sums,
                               typename Warpgroups<cfg>::Ring& ring,
                               typename Warpgroups<cfg>::Position& at, const WarpgroupParams& p,
                               int row, typename Warpgroups<cfg>::Place place,
                               LastStarted last_started) {
  using W = Warpgroups<cfg>;
  mainloop::multiply_tiles<typename W::A, typename W::B>(
      sums, ring, at, p.k_tiles, row, [&](int stage) { ring.release(stage, place); }, last_started);
}

template <WarpgroupConfig cfg>
__device__ void multiply_tiles(typename Warpgroups<cfg>::Sums& sums,
                               typename Warpgroups<cfg>::Ring& ring,
                               typename Warpgroups<cfg>::Position& at, const WarpgroupParams& p,
                               int row, typename Warpgroups<cfg>::Place place = {0, 0}) {
  multiply_tiles<cfg>(sums, ring, at, p, row, place, [] {});
}

// Divides the CTA into roles: one thread calls load(), each consumer calls multiply(its number).
template <WarpgroupConfig cfg, class Load, class Multiply>
__device__ void part_warpgroups(typename Warpgroups<cfg>::Ring& ring, Load load,
                                Multiply multiply) {
  using Place = typename Warpgroups<cfg>::Place;
  if (threadIdx.x == 0) {
    ring.init(4 * (cfg.ping_pong ? 1 : cfg.consumers) * Place::kPartners);
    ptx::fence_mbarrier_init();
    ptx::fence_proxy_async_shared();
  }
  if constexpr (cfg.ctas_of_cluster() > 1) {
    ptx::cluster_sync();
  } else {
    __syncthreads();
  }
  // WHY the shuffle: the compiler must know that `warp` is the same in all lanes.
  const int warp = __shfl_sync(0xffffffff, static_cast<int>(threadIdx.x) / 32, 0);
  if (warp < 4) {
    ptx::release_registers_to<cfg.producer_registers>();
    if (warp == 0 && ptx::elect_one()) load();
  } else {
    ptx::acquire_registers_up_to<cfg.consumer_registers>();
    multiply(warp / 4 - 1);
  }
  // WHY a CTA must not exit early: other CTAs of its cluster still arrive at its barriers.
  if constexpr (cfg.ctas_of_cluster() > 1) {
    __syncwarp();
    ptx::cluster_sync();
  }
}

}  // namespace tessera::ladder
