// Loads one stage of a ring from the caller's operands, without repacked copies: by tensor copies
// of rows along m (or n) or along k, whose maps cover all products of a batch; or by element.
#pragma once

#include "base/config.h"
#include "kernels/copy/load_stage.h"

namespace tessera::copy {

// The position of a work item's tiles in the operands.
struct DirectSource {
  int m, n;                  // first row of A, first column of B
  int product_a, product_b;  // index of the matrix in the maps of a batch
};

// Starts the tensor copies of one operand's tile: of rows along outer, or of panels along k.
template <auto cfg, bool along_k, int extent>
__device__ void start_copies(float* tile, const TensorMap& map, int outer, int k, int product,
                             ptx::Mbarrier& loaded) {
  if constexpr (!along_k) {
    ptx::tensor_load(tile, map, {outer, k, product}, loaded);
  } else {
#pragma unroll
    for (int panel = 0; panel < cfg.block.k; panel += cfg.kPanel) {
      ptx::tensor_load(tile + panel * extent, map, {k + panel, outer / 4, 0, product}, loaded);
    }
  }
}

// All loading threads call this. `p` has the tensor maps; `gemm` is the work item's product.
template <auto cfg, class Params>
__device__ void load_stage_direct(tile::Stages<cfg>& tiles, ptx::Mbarrier& loaded, const Params& p,
                                  const GemmParams& gemm, const DirectSource& from, int stage,
                                  long long k) {
  using Load = StageLoad<cfg>;
  // WHY limited: addresses of a thread's sixteen rows in 256x128 do not fit 40 registers.
  constexpr int kUnroll = cfg.block.m > 128 ? 4 : 64;
  if (Load::kTma && threadIdx.x == 32 * loading_warp(stage)) {
    ptx::fence_proxy_async_shared();  // the stage was read through the generic proxy until now
    ptx::mbarrier_arrive_expect_tx(loaded, Load::kTmaBytes);
    const int first_k = static_cast<int>(k);
    if constexpr (cfg.copies_a()) {
      start_copies<cfg, cfg.a_along_k(), cfg.block.m>(&tiles.a[stage][0][0], p.a_map, from.m,
                                                      first_k, from.product_a, loaded);
    }
    if constexpr (cfg.copies_b()) {
      start_copies<cfg, cfg.b_along_k(), cfg.block.n>(&tiles.b[stage][0][0], p.b_map, from.n,
                                                      first_k, from.product_b, loaded);
    }
  }
  if constexpr (!cfg.copies_a()) {
    constexpr bool along_k = cfg.majors.a == Major::kK;
    copy_elements<along_k, cfg.block.m, cfg.kProducers, kUnroll>(
        tiles.a[stage],
        {static_cast<const float*>(gemm.a), gemm.m, gemm.k, along_k ? gemm.a_row : gemm.a_col},
        from.m, k);
  }
  if constexpr (!cfg.copies_b()) {
    constexpr bool along_k = cfg.majors.b == Major::kK;
    copy_elements<along_k, cfg.block.n, cfg.kProducers, kUnroll>(
        tiles.b[stage],
        {static_cast<const float*>(gemm.b), gemm.n, gemm.k, along_k ? gemm.b_col : gemm.b_row},
        from.n, k);
  }
  if constexpr (Load::kCpAsync) ptx::cp_async_mbarrier_arrive(loaded);
}

}  // namespace tessera::copy
