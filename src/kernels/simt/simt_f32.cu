// FP32 products in FP32 arithmetic, for any sizes, strides and alignments. Four warps fetch tiles
// into a ring in shared memory, by tensor copies or element by element; the others do nothing but
// multiply. The grid is persistent and walks a stream-K schedule: no wave is left half empty.
#include "kernels/epilogue/output.h"
#include "kernels/epilogue/store_tile.h"
#include "kernels/pipeline/consumer.h"
#include "kernels/pipeline/fetch.h"
#include "kernels/pipeline/ring.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/ptx/registers.h"
#include "kernels/schedule/stream_k.h"
#include "kernels/simt/add_parts.h"
#include "kernels/simt/config.h"
#include "kernels/simt/params.h"
#include "kernels/simt/turn.h"

namespace tessera::simt {

using epilogue::Rows;
using pipeline::Consumer, pipeline::Ring, pipeline::RingPosition;
static_assert(Config::kProducers == pipeline::kFetchers);

template <Config cfg>
__device__ void fetch_all(Ring<cfg>& ring, const SimtParams& p) {
  ptx::wait_for_prerequisites();  // operands may come from a launch ahead that turned them
  RingPosition<cfg.stages> position;
  const auto fetch = [&](const scheduler::Work& work, int k_tile) {
    pipeline::fetch_next<cfg>(ring, position, p, work.tile_m * cfg.block.m,
                              work.tile_n * cfg.block.n,
                              static_cast<long long>(k_tile) * cfg.block.k);
  };
  scheduler::Work work = scheduler::first(p.schedule, blockIdx.x);
  for (; work.valid; work = scheduler::next(p.schedule, blockIdx.x, work)) {
    for (int k_tile = work.k_begin; k_tile < work.k_end; ++k_tile) fetch(work, k_tile);
  }
  // WHY: who multiplies fetches fragments one step ahead. Behind the last stage stands one of zeros
  // (all of it outside of the matrices), so that the inner loop need not ask whether it is the end.
  fetch({}, p.schedule.k_tiles);
}

template <Config cfg, Rows rows>
__device__ void store(const SimtParams& p, const scheduler::Work& work, tile::LanePlace lane,
                      OutputTile warp, const float (&sum)[cfg.thread.m][cfg.thread.n]) {
  constexpr int kTile = cfg.block.m * cfg.block.n;
  const auto output =
      work.slot >= 0
          ? epilogue::partial_tile(p.parts, work.slot, cfg.block.m, cfg.block.n)
          : epilogue::output_of(p.gemm).from(work.tile_m * cfg.block.m, work.tile_n * cfg.block.n);
  epilogue::store_tile<cfg, rows>(output, p.scratch + static_cast<long long>(blockIdx.x) * kTile,
                                  warp, lane, sum);
}

// Behind the ring: what the groups give each other of a tile's sums. A thread's places are those of
// its partners in the other groups, so lanes meet no bank twice.
template <Config cfg>
struct Shares {
  static constexpr int kRows = cfg.thread.m / cfg.groups;  // of each thread, for one group
  static constexpr int kStrips = cfg.thread.n / tile::kVector;

  using Share = float4[kRows][kStrips][cfg.group_threads()];
  Share given[cfg.groups][cfg.groups - 1];

  __device__ Share& of(int giver, int taker) { return given[giver][taker - (taker > giver)]; }
};

template <Config cfg>
__device__ void give_shares(Shares<cfg>& shares, int group, int thread,
                            const float (&sum)[cfg.thread.m][cfg.thread.n]) {
#pragma unroll
  for (int i = 0; i < cfg.thread.m; ++i) {
    const int taker = i / shares.kRows;
    if (taker == group) continue;
#pragma unroll
    for (int strip = 0; strip < shares.kStrips; ++strip) {
      const float* x = &sum[i][strip * tile::kVector];
      shares.of(group, taker)[i % shares.kRows][strip][thread] = {x[0], x[1], x[2], x[3]};
    }
  }
}

// Adds all groups' sums of the rows that are group `taker`'s, in ascending order.
template <Config cfg, int taker>
__device__ void take_share(Shares<cfg>& shares, int thread,
                           float (&sum)[cfg.thread.m][cfg.thread.n]) {
#pragma unroll
  for (int i = 0; i < shares.kRows; ++i) {
#pragma unroll
    for (int strip = 0; strip < shares.kStrips; ++strip) {
      float* mine = &sum[taker * shares.kRows + i][strip * tile::kVector];
      const float4 own = {mine[0], mine[1], mine[2], mine[3]};
      float4 total;
#pragma unroll
      for (int giver = 0; giver < cfg.groups; ++giver) {
        const float4 more = giver == taker ? own : shares.of(giver, taker)[i][strip][thread];
        if (giver == 0) total = more;
        if (giver > 0) add(total, more);
      }
      mine[0] = total.x, mine[1] = total.y, mine[2] = total.z, mine[3] = total.w;
    }
  }
}

// The groups' sums of a tile become D: each group adds and stores its share of the rows.
template <Config cfg, int taker = 0>
__device__ void add_and_store(Shares<cfg>& shares, int group, int thread, const SimtParams& p,
                              const scheduler::Work& work, tile::LanePlace lane, OutputTile warp,
                              float (&sum)[cfg.thread.m][cfg.thread.n]) {
  constexpr int kSharesTaken = cfg.stages + 2;  // named barrier
  if (taker == group) {
    take_share<cfg, taker>(shares, thread, sum);
    ptx::barrier_sync(kSharesTaken, cfg.consumers());
    store<cfg, Rows{taker * Shares<cfg>::kRows, Shares<cfg>::kRows}>(p, work, lane, warp, sum);
  } else if constexpr (taker + 1 < cfg.groups) {
    add_and_store<cfg, taker + 1>(shares, group, thread, p, work, lane, warp, sum);
  }
}

template <Config cfg>
__device__ void multiply_all(Ring<cfg>& ring, const SimtParams& p, int thread) {
  const int group = thread / cfg.group_threads(), member = thread % cfg.group_threads();
  const tile::LanePlace lane = tile::lane_place(cfg.lanes, member % 32);
  const OutputTile warp{member / 32 / cfg.warps.n, member / 32 % cfg.warps.n};
  Consumer<cfg> consumer(ring, lane, warp, cfg.groups == 1 ? 0 : group);
  scheduler::Work work = scheduler::first(p.schedule, blockIdx.x);
  for (; work.valid; work = scheduler::next(p.schedule, blockIdx.x, work)) {
    consumer.work().clear();
    consumer.multiply(work.k_end - work.k_begin);
    if constexpr (cfg.groups == 1) {
      store<cfg, Rows{0, cfg.thread.m}>(p, work, lane, warp, consumer.work().sum);
    } else {
      constexpr int kSharesGiven = cfg.stages + 1;  // named barrier
      auto& shares = *reinterpret_cast<Shares<cfg>*>(&ring + 1);
      give_shares<cfg>(shares, group, member, consumer.work().sum);
      ptx::barrier_sync(kSharesGiven, cfg.consumers());
      add_and_store<cfg>(shares, group, member, p, work, lane, warp, consumer.work().sum);
    }
  }
}

template <Config cfg>
__device__ Ring<cfg>& ring_in(unsigned char* memory) {
  const unsigned long long address = reinterpret_cast<unsigned long long>(memory);
  return *reinterpret_cast<Ring<cfg>*>((address + 127) / 128 * 128);
}

template <Config cfg>
__device__ void run(const SimtParams& p) {
  static_assert(is_legal(cfg));
  extern __shared__ unsigned char memory[];
  Ring<cfg>& ring = ring_in<cfg>(memory);
  if (threadIdx.x == 0) {
    for (ptx::Mbarrier& barrier : ring.tile_loaded) ptx::mbarrier_init(barrier, ring.kArrivals);
    ptx::fence_mbarrier_init();
    ptx::fence_proxy_async_shared();
  }
  __syncthreads();
  ptx::launch_dependents();
  // Those who fetch come first: setmaxnreg speaks to whole warpgroups.
  if (threadIdx.x < Config::kProducers) {
    if constexpr (cfg.producer_registers > 0) ptx::release_registers_to<cfg.producer_registers>();
    fetch_all<cfg>(ring, p);
  } else {
    if constexpr (cfg.consumer_registers > 0)
      ptx::acquire_registers_up_to<cfg.consumer_registers>();
    multiply_all<cfg>(ring, p, threadIdx.x - Config::kProducers);
  }
}

}  // namespace tessera::simt
