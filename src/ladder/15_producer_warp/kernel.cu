// Rung 15: four warps fetch, eight warps execute only LDS and FFMA.
//
// Rung 14 was limited by issue slots: each warp also computes addresses, guards and copies, and all
// warps stop at one barrier per tile. Here one thread starts tensor copies for the whole block;
// each stage has barriers on which the fetching and the multiplying warps synchronise; and the grid
// is persistent, so that the next tile of D is fetched while the previous one is written.
#include "kernels/epilogue/store_registers.h"
#include "kernels/mainloop/ffma_loop.h"
#include "kernels/ptx/registers.h"
#include "ladder/15_producer_warp/config.h"

namespace tessera::producer_warp {

using mainloop::FfmaStages, schedule::Work;

// The producers: load one k tile after another, as fast as stages become free.
template <Config cfg>
__device__ void produce(FfmaStages<cfg>& shared, const Params& p) {
  pipeline::RingPosition<cfg.stages> position;
  const auto load = [&](const Work& work, int k_tile) {
    mainloop::load_next<cfg>(shared, position, p, work.tile_m * cfg.block.m,
                             work.tile_n * cfg.block.n,
                             static_cast<long long>(k_tile) * cfg.block.k);
  };
  Work work = schedule::first(p.schedule, blockIdx.x);
  for (; work.valid; work = schedule::next(p.schedule, blockIdx.x, work)) {
    for (int k_tile = 0; k_tile < p.schedule.k_tiles; ++k_tile) load(work, k_tile);
  }
  // WHY a stage of zeros after the last one: consumers load fragments one step ahead.
  load({}, p.schedule.k_tiles);
}

// The consumers: multiply all k tiles of one tile of D, store it, and go on to the next one.
template <Config cfg>
__device__ void consume(const FfmaStages<cfg>& shared, const Params& p, int thread) {
  const tile::Coord<> lane = tile::lane_coord(cfg.lanes, thread % 32);
  const tile::Coord<> warp = tile::warp_coord(cfg.warps, thread);
  const auto output = epilogue::output_of<float, float>(p.gemm);
  mainloop::FfmaMainloop<cfg> mainloop(shared, lane, warp);
  Work work = schedule::first(p.schedule, blockIdx.x);
  for (; work.valid; work = schedule::next(p.schedule, blockIdx.x, work)) {
    mainloop.accumulators().clear();
    mainloop.multiply(p.schedule.k_tiles);
    const long long row = work.tile_m * cfg.block.m + warp.m * (cfg.block.m / cfg.warps.m);
    const long long col = work.tile_n * cfg.block.n + warp.n * (cfg.block.n / cfg.warps.n);
    epilogue::store_direct(output, row, col, lane, mainloop.accumulators());
  }
}

template <Config cfg>
__device__ void run(const Params& p) {
  static_assert(is_legal(cfg));
  extern __shared__ unsigned char memory[];
  auto& shared = tile::aligned_shared<FfmaStages<cfg>>(memory);
  if (threadIdx.x == 0) shared.init();
  __syncthreads();
  // The producers are warps 0 to 3: setmaxnreg applies to a whole warpgroup.
  if (threadIdx.x < Config::kProducers) {
    ptx::release_registers_to<cfg.producer_registers>();
    produce<cfg>(shared, p);
  } else {
    ptx::acquire_registers_up_to<cfg.consumer_registers>();
    consume<cfg>(shared, p, threadIdx.x - Config::kProducers);
  }
}

}  // namespace tessera::producer_warp
