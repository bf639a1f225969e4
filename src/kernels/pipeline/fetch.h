// How tiles come into the ring: whole by a tensor copy, or element by element where base or row
// stride is no multiple of 16 bytes, or where the operand stands along k and is turned on its way.
// Elements outside of the matrix become zeros either way.
#pragma once

#include "kernels/pipeline/ring.h"
#include "kernels/ptx/cp_async.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/named_barrier.h"
#include "kernels/ptx/tensor_copy.h"
#include "launch/params.h"

namespace tessera::pipeline {

inline constexpr int kFetchers = 128;  // threads that fetch beside others that multiply

// One operand in memory: `outer` is m of A, n of B. Its neighbours stand along k or along outer,
// those of the other index `stride` elements apart.
struct Matrix {
  const float* data;
  long long outer, k;
  long long stride;
};

// Which elements of an extent x depth tile each of the fetching threads copies: `outer + i *
// kOuterStep` and `k + j * kKStep` for all i and j. Neighbouring threads read neighbours, and a
// warp writes to 32 banks.
template <int extent, int depth, bool along_k, int threads>
struct CopyMap {
  static constexpr int kAcross = along_k ? 8 : (extent < 128 ? extent : 128);
  static constexpr int kDown = threads / kAcross;
  static constexpr int kOuterStep = along_k ? kDown : kAcross;
  static constexpr int kKStep = along_k ? kAcross : kDown;
  static constexpr int kOuterCount = extent / kOuterStep, kKCount = depth / kKStep;
  static_assert(kOuterCount * kOuterStep == extent && kKCount * kKStep == depth);

  __device__ static int outer(int thread) { return along_k ? thread / kAcross : thread % kAcross; }
  __device__ static int k(int thread) { return along_k ? thread % kAcross : thread / kAcross; }
};

// Copies one tile whose first element is (first_outer, first_k); `tile` is (k, outer). `unroll`:
// rows whose copies stand side by side, fewer where their addresses would not fit the registers.
template <bool along_k, int extent, int threads = kFetchers, int unroll = 64, int depth, int pitch>
__device__ void copy_tile(float (&tile)[depth][pitch], const Matrix& matrix, long long first_outer,
                          long long first_k) {
  using Map = CopyMap<extent, depth, along_k, threads>;
  const int thread = threadIdx.x % threads;
  const int o = Map::outer(thread), k = Map::k(thread);
  const long long outer = first_outer + o, in_k = first_k + k;
  const float* from =
      matrix.data + (along_k ? outer * matrix.stride + in_k : in_k * matrix.stride + outer);
  float* to = &tile[k][o];
  const long long outer_left = matrix.outer - outer, k_left = matrix.k - in_k;
  // The outer loop walks the stride, so that its addresses are sums; the inner one is offsets.
  constexpr int kFar = along_k ? Map::kOuterCount : Map::kKCount;
  constexpr int kNear = along_k ? Map::kKCount : Map::kOuterCount;
#pragma unroll unroll
  for (int far = 0; far < kFar; ++far) {
#pragma unroll
    for (int near = 0; near < kNear; ++near) {
      const int i = along_k ? far : near, j = along_k ? near : far;
      const bool inside = i * Map::kOuterStep < outer_left && j * Map::kKStep < k_left;
      const int step = along_k ? j * Map::kKStep : i * Map::kOuterStep;
      ptx::cp_async<4>(to + j * Map::kKStep * pitch + i * Map::kOuterStep, from + step,
                       inside ? 4 : 0);
    }
    from += matrix.stride * (along_k ? Map::kOuterStep : Map::kKStep);
  }
}

// As copy_tile, by one thread; `arrived` must have been told the bytes.
template <int depth, int pitch>
__device__ void load_tile(float (&tile)[depth][pitch], const TensorMap& map, long long first_outer,
                          long long first_k, ptx::Mbarrier& arrived) {
  ptx::tensor_load(&tile[0][0], map, {static_cast<int>(first_outer), static_cast<int>(first_k)},
                   arrived);
}

// Starts the copies of one stage: the tiles of A and B that begin at (m, k) and (k, n). All that
// fetch call it; `p` holds the tensor maps a_map and b_map, and the problem as gemm.
template <auto cfg, class Params>
__device__ void fetch_stage(Ring<cfg>& ring, const Params& p, int stage, long long m, long long n,
                            long long k) {
  // Copies of one thread. TRIED: 48 side by side in 40 registers: their addresses go to local
  // memory, for which there is little L1 beside the ring. TN of 64x8192x8192 took 2.59 ms, NN 0.22.
  constexpr int kCopies = ((Ring<cfg>::kTensorA ? 0 : cfg.block.m * cfg.block.k) +
                           (Ring<cfg>::kTensorB ? 0 : cfg.block.n * cfg.block.k)) /
                          kFetchers;
  constexpr bool few_fit = kCopies >= 32 && cfg.producer_registers > 0;
  constexpr int kSideBySide = few_fit && !Ring<cfg>::kTensorA && !Ring<cfg>::kTensorB ? 2 : 64;
  ptx::Mbarrier& loaded = ring.tile_loaded[stage];
  if (Ring<cfg>::kTensorBytes > 0 && threadIdx.x == 32 * fetching_warp(stage)) {
    ptx::fence_proxy_async_shared();  // the stage was read the ordinary way until now
    ptx::mbarrier_arrive_expect_tx(loaded, Ring<cfg>::kTensorBytes);
    if constexpr (Ring<cfg>::kTensorA) load_tile(ring.a[stage], p.a_map, m, k, loaded);
    if constexpr (Ring<cfg>::kTensorB) load_tile(ring.b[stage], p.b_map, n, k, loaded);
  }
  if constexpr (!Ring<cfg>::kTensorA) {
    constexpr bool along_k = cfg.sides.a == Contiguous::kK;
    const long long stride = along_k ? p.gemm.a_row : p.gemm.a_col;
    copy_tile<along_k, cfg.block.m, kFetchers, kSideBySide>(
        ring.a[stage], {static_cast<const float*>(p.gemm.a), p.gemm.m, p.gemm.k, stride}, m, k);
  }
  if constexpr (!Ring<cfg>::kTensorB) {
    constexpr bool along_k = cfg.sides.b == Contiguous::kK;
    const long long stride = along_k ? p.gemm.b_col : p.gemm.b_row;
    copy_tile<along_k, cfg.block.n, kFetchers, kSideBySide>(
        ring.b[stage], {static_cast<const float*>(p.gemm.b), p.gemm.n, p.gemm.k, stride}, n, k);
  }
  if constexpr (!Ring<cfg>::kTensorA || !Ring<cfg>::kTensorB) {
    ptx::cp_async_mbarrier_arrive(loaded);
  }
}

// The next stage, as soon as it is free. All that fetch call it for all stages: they pass over
// those of other warps.
template <auto cfg, class Params>
__device__ void fetch_next(Ring<cfg>& ring, RingPosition<cfg.stages>& position, const Params& p,
                           long long m, long long n, long long k) {
  const int stage = position.stage;
  const bool mine = kFetchersOfStage<cfg> > 32 || threadIdx.x / 32 == fetching_warp(stage);
  if (mine) {
    if (!position.first_lap) ptx::barrier_sync(tile_consumed(stage), kMeeting<cfg>);
    fetch_stage<cfg>(ring, p, stage, m, n, k);
  }
  position.advance();
}

}  // namespace tessera::pipeline
