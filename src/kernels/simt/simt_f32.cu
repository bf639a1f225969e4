// FP32 products in FP32 arithmetic, for any sizes, strides and alignments. Four warps fetch tiles
// into a ring in shared memory, by tensor copies or element by element; the others do nothing but
// multiply. The grid is persistent and walks a stream-K schedule: no wave is left half empty.
#include "kernels/epilogue/output.h"
#include "kernels/pipeline/consumer.h"
#include "kernels/pipeline/fetch.h"
#include "kernels/pipeline/ring.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/griddepcontrol.h"
#include "kernels/ptx/registers.h"
#include "kernels/scheduler/stream_k.h"
#include "kernels/simt/add_parts.h"
#include "kernels/simt/config.h"
#include "kernels/simt/params.h"
#include "kernels/simt/turn.h"

namespace tessera::simt {

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

template <Config cfg>
__device__ void store(const SimtParams& p, const scheduler::Work& work, tile::LanePlace lane,
                      OutputTile warp, const float (&sum)[cfg.thread.m][cfg.thread.n]) {
  const bool is_part = work.slot >= 0;
  const auto output = is_part ? epilogue::partial_tile(p.parts, work.slot, cfg.block.m, cfg.block.n)
                              : epilogue::output_of(p.gemm);
  const long long row =
      (is_part ? 0 : work.tile_m * cfg.block.m) + warp.m * (cfg.block.m / cfg.warps.m);
  const long long col =
      (is_part ? 0 : work.tile_n * cfg.block.n) + warp.n * (cfg.block.n / cfg.warps.n);
  epilogue::store_sums<cfg>(output, row, col, lane, sum);
}

// Sums of the other groups stand behind the ring.
template <Config cfg>
__device__ float4* sums_behind(Ring<cfg>& ring) {
  return reinterpret_cast<float4*>(&ring + 1);
}

// Adds the sums of all groups in the first one. A thread's places are those of its partners in the
// other groups, so lanes meet no bank twice.
template <Config cfg>
__device__ void add_groups(float4* sums, int group, int thread,
                           float (&sum)[cfg.thread.m][cfg.thread.n]) {
  constexpr int kSumsWritten = cfg.stages + 1, kSumsRead = cfg.stages + 2;  // named barriers
  constexpr int kStrips = cfg.thread.m * cfg.thread.n / tile::kVector,
                kThreads = cfg.group_threads();
  float* flat = &sum[0][0];
  if (group > 0) {
    float4* mine = sums + (group - 1) * kStrips * kThreads + thread;
#pragma unroll
    for (int i = 0; i < kStrips; ++i) {
      mine[i * kThreads] = {flat[4 * i], flat[4 * i + 1], flat[4 * i + 2], flat[4 * i + 3]};
    }
  }
  ptx::barrier_sync(kSumsWritten, cfg.consumers());
  if (group == 0) {
#pragma unroll
    for (int other = 0; other < cfg.groups - 1; ++other) {
      const float4* theirs = sums + other * kStrips * kThreads + thread;
#pragma unroll
      for (int i = 0; i < kStrips; ++i) {
        const float4 more = theirs[i * kThreads];
        flat[4 * i] += more.x, flat[4 * i + 1] += more.y;
        flat[4 * i + 2] += more.z, flat[4 * i + 3] += more.w;
      }
    }
  }
  ptx::barrier_sync(kSumsRead, cfg.consumers());
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
    if constexpr (cfg.groups > 1) {
      add_groups<cfg>(sums_behind(ring), group, member, consumer.work().sum);
      if (group > 0) continue;
    }
    store<cfg>(p, work, lane, warp, consumer.work().sum);
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
