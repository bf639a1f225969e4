// Rung 15: four warps fetch, eight warps do nothing but LDS and FFMA.
//
// Rung 14 was limited by issue slots: each warp also computes addresses, guards and copies, and all
// of them stop at one barrier a tile. Here tiles come by tensor copies, which one thread starts for
// the whole block; fetching warps and multiplying warps meet at barriers of single stages; and the
// grid is persistent, so that the next tile of D is fetched while the last one is written.
#include "kernels/epilogue/output.h"
#include "kernels/pipeline/consumer.h"
#include "kernels/pipeline/fetch.h"
#include "kernels/pipeline/ring.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/registers.h"
#include "ladder/15_producer_warp/config.h"

namespace tessera::producer_warp {

using pipeline::Matrix, pipeline::Ring, scheduler::Work;
static_assert(Config::kProducers == pipeline::kFetchers);

template <Config cfg>
__device__ void fetch_a(Ring<cfg>& ring, const Params& p, int stage, long long m, long long k) {
  if constexpr (!Ring<cfg>::kTensorA) {
    constexpr bool along_k = cfg.sides.a == Contiguous::kK;
    const Matrix a{static_cast<const float*>(p.gemm.a), p.gemm.m, p.gemm.k,
                   along_k ? p.gemm.a_row : p.gemm.a_col};
    pipeline::copy_tile<along_k, cfg.block.m>(ring.a[stage], a, m, k);
  }
}

template <Config cfg>
__device__ void fetch_b(Ring<cfg>& ring, const Params& p, int stage, long long n, long long k) {
  if constexpr (!Ring<cfg>::kTensorB) {
    constexpr bool along_k = cfg.sides.b == Contiguous::kK;
    const Matrix b{static_cast<const float*>(p.gemm.b), p.gemm.n, p.gemm.k,
                   along_k ? p.gemm.b_col : p.gemm.b_row};
    pipeline::copy_tile<along_k, cfg.block.n>(ring.b[stage], b, n, k);
  }
}

template <Config cfg>
__device__ void fetch_stage(Ring<cfg>& ring, const Params& p, int stage, const Work& work,
                            int k_tile) {
  ptx::Mbarrier& loaded = ring.tile_loaded[stage];
  const long long m = work.tile_m * cfg.block.m, n = work.tile_n * cfg.block.n;
  const long long k = static_cast<long long>(k_tile) * cfg.block.k;
  // The four warps stand on four sub-cores and take turns, so that none loses more slots.
  if (Ring<cfg>::kTensorBytes > 0 && threadIdx.x == stage % 4 * 32) {
    ptx::fence_proxy_async_shared();  // the stage was read the ordinary way until now
    ptx::mbarrier_arrive_expect_tx(loaded, Ring<cfg>::kTensorBytes);
    if constexpr (Ring<cfg>::kTensorA) pipeline::load_tile(ring.a[stage], p.a_map, m, k, loaded);
    if constexpr (Ring<cfg>::kTensorB) pipeline::load_tile(ring.b[stage], p.b_map, n, k, loaded);
  }
  fetch_a<cfg>(ring, p, stage, m, k);
  fetch_b<cfg>(ring, p, stage, n, k);
  if constexpr (!Ring<cfg>::kTensorA || !Ring<cfg>::kTensorB) {
    ptx::cp_async_mbarrier_arrive(loaded);
  }
}

// The producers: k tile after k tile, as fast as stages become free.
template <Config cfg>
__device__ void fetch_all(Ring<cfg>& ring, const Params& p) {
  pipeline::RingPosition<cfg.stages> position;
  const auto fetch = [&](const Work& work, int k_tile) {
    if (!position.first_lap) {
      ptx::barrier_sync(pipeline::tile_consumed<cfg.stages>(position.stage), cfg.threads());
    }
    fetch_stage<cfg>(ring, p, position.stage, work, k_tile);
    position.advance();
  };
  Work work = scheduler::first(p.schedule, blockIdx.x);
  for (; work.valid; work = scheduler::next(p.schedule, blockIdx.x, work)) {
    for (int k_tile = 0; k_tile < p.schedule.k_tiles; ++k_tile) fetch(work, k_tile);
  }
  // WHY: who multiplies fetches fragments one step ahead: behind the last stage stands one of
  // zeros.
  fetch({}, p.schedule.k_tiles);
}

// The consumers: all k tiles of one tile of D, then its way out, then the next one.
template <Config cfg>
__device__ void multiply_all(const Ring<cfg>& ring, const Params& p, int thread) {
  const tile::LanePlace lane = tile::lane_place(cfg.lanes, thread % 32);
  const OutputTile warp{thread / 32 / cfg.warps.n, thread / 32 % cfg.warps.n};
  const auto output = epilogue::output_of(p.gemm);
  pipeline::Consumer<cfg> consumer(ring, lane, warp);
  Work work = scheduler::first(p.schedule, blockIdx.x);
  for (; work.valid; work = scheduler::next(p.schedule, blockIdx.x, work)) {
    consumer.work().clear();
    consumer.multiply(p.schedule.k_tiles);
    const auto& sum = consumer.work().sum;
    const long long row = work.tile_m * cfg.block.m + warp.m * (cfg.block.m / cfg.warps.m);
    const long long col = work.tile_n * cfg.block.n + warp.n * (cfg.block.n / cfg.warps.n);
#pragma unroll
    for (int i = 0; i < cfg.thread.m; ++i) {
#pragma unroll
      for (int j = 0; j < cfg.thread.n; j += tile::kVector) {
        output.store_strip(row + tile::element_of(cfg.lanes.m, lane.m, i),
                           col + tile::element_of(cfg.lanes.n, lane.n, j),
                           {sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]});
      }
    }
  }
}

template <Config cfg>
__device__ void run(const Params& p) {
  static_assert(is_legal(cfg));
  extern __shared__ unsigned char memory[];
  const auto address = reinterpret_cast<unsigned long long>(memory);
  auto& ring = *reinterpret_cast<Ring<cfg>*>((address + 127) / 128 * 128);
  if (threadIdx.x == 0) {
    for (ptx::Mbarrier& barrier : ring.tile_loaded) ptx::mbarrier_init(barrier, ring.kArrivals);
    ptx::fence_mbarrier_init();
    ptx::fence_proxy_async_shared();
  }
  __syncthreads();
  // Producers come first: setmaxnreg speaks to whole warpgroups.
  if (threadIdx.x < Config::kProducers) {
    ptx::release_registers_to<cfg.producer_registers>();
    fetch_all<cfg>(ring, p);
  } else {
    ptx::acquire_registers_up_to<cfg.consumer_registers>();
    multiply_all<cfg>(ring, p, threadIdx.x - Config::kProducers);
  }
}

}  // namespace tessera::producer_warp
