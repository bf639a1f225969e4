// FP32 products in FP32 arithmetic, for any sizes, strides and alignments. Four warps load tiles
// into a ring in shared memory, by tensor copies or element by element; the other warps only
// multiply. The grid is persistent with a stream-K schedule, so that the last wave is full.
#include "kernels/epilogue/output.h"
#include "kernels/epilogue/sliced_k.h"
#include "kernels/epilogue/store_staged.h"
#include "kernels/families/simt/config.h"
#include "kernels/families/simt/params.h"
#include "kernels/mainloop/ffma_loop.h"
#include "kernels/passes/reduce.h"
#include "kernels/passes/repack.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/ptx/registers.h"
#include "kernels/schedule/stream_k.h"

namespace tessera::simt {

using passes::reduce, passes::repack;  // separate entries

using mainloop::FfmaMainloop, mainloop::FfmaStages;
using Coord = tile::Coord<>;

template <Config cfg>
using Accumulators = tile::ThreadAccumulators<float, cfg.lanes, cfg.thread>;

template <Config cfg>
using SlicedK = epilogue::SlicedK<Accumulators<cfg>, cfg.slices, cfg.slice_threads(),
                                  FfmaStages<cfg>::Ring::kNamedBarriers>;

template <Config cfg>
struct SharedMemory {
  FfmaStages<cfg> stages;
  alignas(128) SlicedK<cfg> sliced_k;

  static constexpr int kBytes =
      sizeof(FfmaStages<cfg>) + (cfg.slices > 1 ? sizeof(SlicedK<cfg>) : 0);
  static_assert(kBytes + 127 <= cfg.shared_bytes());  // up to 127 bytes align the start
};

template <Config cfg>
__device__ void produce(FfmaStages<cfg>& stages, const SimtParams& p) {
  ptx::wait_for_prerequisites();  // the previous launch may have repacked the operands
  pipeline::RingPosition<cfg.stages> position;
  const auto load = [&](const schedule::Work& work, int k_tile) {
    mainloop::load_next<cfg>(stages, position, p, work.tile_m * cfg.block.m,
                             work.tile_n * cfg.block.n,
                             static_cast<long long>(k_tile) * cfg.block.k);
  };
  schedule::Work work = schedule::first(p.schedule, blockIdx.x);
  for (; work.valid; work = schedule::next(p.schedule, blockIdx.x, work)) {
    for (int k_tile = work.k_begin; k_tile < work.k_end; ++k_tile) load(work, k_tile);
  }
  // WHY one more stage, of zeros (all of it is outside of the matrices): consumers load fragments
  // one step ahead, and their inner loop needs no check for the end.
  load({}, p.schedule.k_tiles);
}

// Stores rows of a work item's sums to D, or as partial sums to the workspace.
template <Config cfg, tile::Rows rows>
__device__ void store(const SimtParams& p, const schedule::Work& work, Coord lane, Coord warp,
                      const Accumulators<cfg>& accumulators) {
  constexpr OutputTile kBlock{cfg.block.m, cfg.block.n};
  const auto output = work.slot >= 0 ? epilogue::partial_tile(p.partials, work.slot, kBlock)
                                     : epilogue::output_of<float, float>(p.gemm).from(
                                           work.tile_m * kBlock.m, work.tile_n * kBlock.n);
  float* scratch = p.scratch + static_cast<long long>(blockIdx.x) * (kBlock.m * kBlock.n);
  epilogue::store_staged<kBlock, rows>(output, scratch, warp, lane, accumulators);
}

template <Config cfg>
__device__ void consume(SharedMemory<cfg>& shared, const SimtParams& p, int thread) {
  const int slice = thread / cfg.slice_threads(), member = thread % cfg.slice_threads();
  const Coord lane = tile::lane_coord(cfg.lanes, member % 32);
  const Coord warp = tile::warp_coord(cfg.warps, member);
  FfmaMainloop<cfg> mainloop(shared.stages, lane, warp, cfg.slices == 1 ? 0 : slice);
  schedule::Work work = schedule::first(p.schedule, blockIdx.x);
  for (; work.valid; work = schedule::next(p.schedule, blockIdx.x, work)) {
    mainloop.accumulators().clear();
    mainloop.multiply(work.k_end - work.k_begin);
    shared.sliced_k.reduce_and_store(
        slice, member, mainloop.accumulators(),
        [&]<tile::Rows rows>(tile::RowsConstant<rows>, const Accumulators<cfg>& sums) {
          store<cfg, rows>(p, work, lane, warp, sums);
        });
  }
}

template <Config cfg>
__device__ void run(const SimtParams& p) {
  static_assert(is_legal(cfg));
  extern __shared__ unsigned char memory[];
  auto& shared = tile::aligned_shared<SharedMemory<cfg>>(memory);
  if (threadIdx.x == 0) shared.stages.init();
  __syncthreads();
  ptx::launch_dependents();
  // The producers are warps 0 to 3: setmaxnreg applies to a whole warpgroup.
  if (threadIdx.x < Config::kProducers) {
    if constexpr (cfg.producer_registers > 0) ptx::release_registers_to<cfg.producer_registers>();
    produce<cfg>(shared.stages, p);
  } else {
    if constexpr (cfg.consumer_registers > 0)
      ptx::acquire_registers_up_to<cfg.consumer_registers>();
    consume<cfg>(shared, p, threadIdx.x - Config::kProducers);
  }
}

}  // namespace tessera::simt
