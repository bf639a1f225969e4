// Stores the sums of a warpgroup to D in BF16, by tensor copies of panels in shared memory. Used by
// rungs 41 to 43.
#pragma once

#include "kernels/epilogue/add_c.h"
#include "kernels/epilogue/store_tma.h"
#include "ladder/shared/warpgroup_config.h"

namespace tessera::ladder {

// The panels of one consumer warp, in shared memory after the ring.
template <WarpgroupConfig cfg>
using Panels = epilogue::StorePanels<ElementType::kBf16, cfg.block.n, cfg.store_buffers>;

// Stores sums from the warpgroup's first output (row, col) on. Returns while the last copies run.
template <WarpgroupConfig cfg, class Sums>
__device__ void store_by_copies(Panels<cfg>* panels, Sums& sums, const WarpgroupParams& p,
                                int consumer, int row, int col) {
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const epilogue::MatrixD d{p.d_map, p.copied_columns, 0, false};
  const int of_warp = row + warp * epilogue::kWarpRows;
  Panels<cfg>& own = panels[4 * consumer + warp];
  constexpr auto kOut = ElementType::kBf16;
  epilogue::PanelsOfC<kOut, cfg.block.n, cfg.store_buffers, Sums> c(own, p.gemm, of_warp, col);
  c.start();
  epilogue::ScaledSums op;
  epilogue::store_by_tma<kOut>(own, sums, c.add_to(sums), d, of_warp, col, op);
}

// Waits for the copies: no copy may be running when the kernel ends.
__device__ inline void finish_stores() {
  if (ptx::elect_one()) ptx::bulk_wait_group<0>();
}

}  // namespace tessera::ladder
