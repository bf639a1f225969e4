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

using pipeline::Ring, scheduler::Work;
static_assert(Config::kProducers == pipeline::kFetchers);

// The producers: k tile after k tile, as fast as stages become free.
template <Config cfg>
__device__ void fetch_all(Ring<cfg>& ring, const Params& p) {
  pipeline::RingPosition<cfg.stages> position;
  const auto fetch = [&](const Work& work, int k_tile) {
    pipeline::fetch_next<cfg>(ring, position, p, work.tile_m * cfg.block.m,
                              work.tile_n * cfg.block.n,
                              static_cast<long long>(k_tile) * cfg.block.k);
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
    epilogue::store_sums<cfg>(output, row, col, lane, sum);
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
