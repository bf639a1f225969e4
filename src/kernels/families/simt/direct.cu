// FP32 products in FP32 arithmetic, without repacked operands. Four warps load tiles into a ring in
// shared memory, by tensor copies or element by element; the other warps multiply tiles that are
// contiguous along k or across it. The tiles of a batch's products form one column, one product
// below the other. The grid is persistent with a stream-K schedule; in a batch no tile is split, so
// that a product gets the same bits at every position.
#include <type_traits>

#include "kernels/copy/load_direct.h"
#include "kernels/epilogue/output.h"
#include "kernels/epilogue/store_staged.h"
#include "kernels/epilogue/store_through_shared.h"
#include "kernels/families/simt/direct_config.h"
#include "kernels/families/simt/direct_params.h"
#include "kernels/mainloop/ffma_along_k.h"
#include "kernels/mainloop/ffma_loop.h"
#include "kernels/passes/reduce.h"
#include "kernels/passes/repack.h"
#include "kernels/ptx/address.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/ptx/registers.h"
#include "kernels/schedule/product_of.h"
#include "kernels/schedule/stream_k.h"

namespace tessera::simt_direct {

using passes::reduce, passes::repack;  // separate entries

using mainloop::FfmaStages;
using Coord = tile::Coord<>;

template <Config cfg>
using Mainloop = std::conditional_t<cfg.a_along_k() || cfg.b_along_k(),
                                    mainloop::AlongKMainloop<cfg>, mainloop::FfmaMainloop<cfg>>;

template <Config cfg>
using Accumulators = tile::ThreadAccumulators<float, cfg.lanes, cfg.thread>;

template <Config cfg>
struct SharedMemory {
  FfmaStages<cfg> stages;
  // One RowsOfVectors for each consumer warp.
  epilogue::RowsOfVectors<Accumulators<cfg>> rows[cfg.consumers() / 32];
};

// The product of a batch that a work item belongs to, and the row of tiles in that product.
struct Place {
  int product, tile_m;

  __device__ Place(const DirectParams& p, const schedule::Work& work)
      : product(static_cast<int>(work.tile_m) / p.batch.tiles_m),
        tile_m(static_cast<int>(work.tile_m) - product * p.batch.tiles_m) {}
};

// Returns the problem of one product of the batch.
template <Config cfg>
__device__ GemmParams gemm_of(const DirectParams& p, int product) {
  if constexpr (cfg.has_maps()) {
    const auto moved = [product](const void* first, long long bytes) {
      return static_cast<const char*>(first) + product * bytes;
    };
    GemmParams gemm = p.gemm;
    gemm.a = moved(gemm.a, p.batch.a), gemm.b = moved(gemm.b, p.batch.b);
    gemm.c = moved(gemm.c, p.batch.c), gemm.d = static_cast<char*>(gemm.d) + product * p.batch.d;
    return gemm;
  } else {
    // WHY in a register: for a uniform number, ptxas puts a distance between dependent instructions
    // that the SASS patcher's hazard checker does not know, and the kernel would not be patched.
    return schedule::with_addresses(
        p.gemm, schedule::addresses_of(p.gemm, p.batch, ptx::kept_in_register(product)));
  }
}

// The operands of a work item.
template <Config cfg>
struct Source {
  GemmParams gemm;
  copy::DirectSource from;

  __device__ Source(const DirectParams& p, const schedule::Work& work) {
    const Place at(p, work);
    gemm = gemm_of<cfg>(p, at.product);
    from = {at.tile_m * cfg.block.m, static_cast<int>(work.tile_n) * cfg.block.n,
            p.batch.a == 0 ? 0 : at.product, p.batch.b == 0 ? 0 : at.product};
  }
};

template <Config cfg>
__device__ void produce(FfmaStages<cfg>& stages, const DirectParams& p) {
  ptx::wait_for_prerequisites();
  pipeline::RingPosition<cfg.stages> position;
  const auto load = [&](const Source<cfg>& source, int k_tile) {
    const int stage = position.stage;
    const bool mine =
        copy::StageLoad<cfg>::kThreads > 32 || threadIdx.x / 32 == copy::loading_warp(stage);
    if (mine) {
      if (!position.first_lap) stages.ring.wait_consumed(stage);
      copy::load_stage_direct<cfg>(stages.tiles, stages.ring.tile_loaded[stage], p, source.gemm,
                                   source.from, stage,
                                   static_cast<long long>(k_tile) * cfg.block.k);
    }
    position.advance();
  };
  schedule::Work work = schedule::first(p.schedule, blockIdx.x);
  for (; work.valid; work = schedule::next(p.schedule, blockIdx.x, work)) {
    const Source<cfg> source(p, work);
    for (int k_tile = work.k_begin; k_tile < work.k_end; ++k_tile) load(source, k_tile);
  }
  // WHY one more stage, of zeros (all of it is outside of the matrices): consumers load fragments
  // one step ahead, and their inner loop needs no check for the end.
  load(Source<cfg>(p, {}), p.schedule.k_tiles);
}

// Stores a work item's sums to D, or as partial sums to the workspace.
template <Config cfg>
__device__ void store(const DirectParams& p, const schedule::Work& work,
                      epilogue::RowsOfVectors<Accumulators<cfg>>& rows, Coord lane, Coord warp,
                      const Accumulators<cfg>& accumulators) {
  constexpr OutputTile kBlock{cfg.block.m, cfg.block.n};
  const Place at(p, work);
  const GemmParams of_product = gemm_of<cfg>(p, at.product);
  const auto output = work.slot >= 0 ? epilogue::partial_tile(p.partials, work.slot, kBlock)
                                     : epilogue::output_of<float, float>(of_product)
                                           .from(static_cast<long long>(at.tile_m) * kBlock.m,
                                                 work.tile_n * kBlock.n);
  if constexpr (cfg.stores_through_shared()) {
    epilogue::store_through_shared<kBlock>(output, rows, warp, lane, accumulators);
  } else {
    float* scratch = p.scratch + static_cast<long long>(blockIdx.x) * (kBlock.m * kBlock.n);
    epilogue::store_staged<kBlock, Accumulators<cfg>::kAllRows>(output, scratch, warp, lane,
                                                                accumulators);
  }
}

template <Config cfg>
__device__ void consume(SharedMemory<cfg>& shared, const DirectParams& p, int thread) {
  const Coord lane = tile::lane_coord(cfg.lanes, thread % 32);
  const Coord warp = tile::warp_coord(cfg.warps, thread);
  Mainloop<cfg> mainloop(shared.stages, lane, warp);
  schedule::Work work = schedule::first(p.schedule, blockIdx.x);
  for (; work.valid; work = schedule::next(p.schedule, blockIdx.x, work)) {
    mainloop.accumulators().clear();
    mainloop.multiply(work.k_end - work.k_begin);
    store<cfg>(p, work, shared.rows[thread / 32], lane, warp, mainloop.accumulators());
  }
}

template <Config cfg>
__device__ void run(const DirectParams& p) {
  static_assert(is_legal(cfg));
  extern __shared__ unsigned char memory[];
  // Up to 127 bytes align the start of dynamic shared memory.
  constexpr int kBytes =
      cfg.stores_through_shared() ? sizeof(SharedMemory<cfg>) : sizeof(FfmaStages<cfg>);
  static_assert(kBytes + 127 <= cfg.shared_bytes());
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

}  // namespace tessera::simt_direct
