// Loads one stage of a ring from global memory. The config selects the way for each operand: one
// tensor copy that a single thread starts, or copies of elements by all loading threads.
#pragma once

#include "base/config.h"
#include "kernels/copy/cp_async_tile.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/mbarrier.h"
#include "kernels/ptx/tensor_copy.h"
#include "kernels/tile/stages.h"
#include "launch/params.h"

namespace tessera::copy {

// Counts that follow from how `cfg` loads its operands: by tensor copies or element by element.
template <auto cfg>
struct StageLoad {
  static constexpr bool kTmaA = cfg.loads.a == Load::kTma;
  static constexpr bool kTmaB = cfg.loads.b == Load::kTma;
  static constexpr bool kTma = kTmaA || kTmaB, kCpAsync = !kTmaA || !kTmaB;
  // Threads that load each stage: one warp if tensor copies load all of it.
  static constexpr int kThreads = kCpAsync ? cfg.kProducers : 32;
  // Arrivals at the stage's barrier: one from the thread that announces the bytes of tensor copies,
  // and one from each thread that copies elements.
  static constexpr int kArrivals = (kTma ? 1 : 0) + (kCpAsync ? cfg.kProducers : 0);
  static constexpr int kTmaBytes = 4 * ((kTmaA ? cfg.stage_a() : 0) + (kTmaB ? cfg.stage_b() : 0));
};

// The warp that loads a stage or starts its tensor copies. The loading warps run on four sub-cores
// and alternate, so that all sub-cores lose the same number of issue slots.
__device__ constexpr int loading_warp(int stage) { return stage % 4; }

// Starts the copies of one stage: the tiles of A and B that begin at (m, k) and (k, n). All loading
// threads call it. `p` has the tensor maps a_map and b_map, and the problem as `gemm`.
template <auto cfg, class Params>
__device__ void load_stage(tile::Stages<cfg>& tiles, ptx::Mbarrier& loaded, const Params& p,
                           int stage, long long m, long long n, long long k) {
  using Load = StageLoad<cfg>;
  // Copies per thread. TRIED: all 48 unrolled with 40 registers: the addresses go to local memory,
  // for which the ring (shared memory) leaves little L1.
  constexpr int kCopies = ((Load::kTmaA ? 0 : cfg.block.m * cfg.block.k) +
                           (Load::kTmaB ? 0 : cfg.block.n * cfg.block.k)) /
                          cfg.kProducers;
  constexpr bool few_fit = kCopies >= 32 && cfg.producer_registers > 0;
  constexpr int kUnroll = few_fit && !Load::kTma ? 2 : 64;
  if (Load::kTma && threadIdx.x == 32 * loading_warp(stage)) {
    ptx::fence_proxy_async_shared();  // the stage was read through the generic proxy until now
    ptx::mbarrier_arrive_expect_tx(loaded, Load::kTmaBytes);
    const int first_k = static_cast<int>(k);
    if constexpr (Load::kTmaA) {
      ptx::tensor_load(tiles.a[stage], p.a_map, {static_cast<int>(m), first_k}, loaded);
    }
    if constexpr (Load::kTmaB) {
      ptx::tensor_load(tiles.b[stage], p.b_map, {static_cast<int>(n), first_k}, loaded);
    }
  }
  if constexpr (!Load::kTmaA) {
    constexpr bool along_k = cfg.majors.a == Major::kK;
    const long long stride = along_k ? p.gemm.a_row : p.gemm.a_col;
    copy_elements<along_k, cfg.block.m, cfg.kProducers, kUnroll>(
        tiles.a[stage], {static_cast<const float*>(p.gemm.a), p.gemm.m, p.gemm.k, stride}, m, k);
  }
  if constexpr (!Load::kTmaB) {
    constexpr bool along_k = cfg.majors.b == Major::kK;
    const long long stride = along_k ? p.gemm.b_col : p.gemm.b_row;
    copy_elements<along_k, cfg.block.n, cfg.kProducers, kUnroll>(
        tiles.b[stage], {static_cast<const float*>(p.gemm.b), p.gemm.n, p.gemm.k, stride}, n, k);
  }
  if constexpr (Load::kCpAsync) ptx::cp_async_mbarrier_arrive(loaded);
}

}  // namespace tessera::copy
