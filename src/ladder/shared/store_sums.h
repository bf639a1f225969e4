// Stores the sums of a warpgroup from registers to D in BF16, two neighbours of a row at a time.
// Used by rungs 33 to 40.
#pragma once

#include "kernels/epilogue/panel_columns.h"
#include "kernels/epilogue/store_pairs.h"

namespace tessera::ladder {

// The problem with C and D from (row, col) on. Within a tile, rows and columns then fit an int.
__device__ inline GemmParams part_from(GemmParams p, long long row, long long col) {
  p.c = static_cast<const std::uint16_t*>(p.c) + row * p.c_row + col;
  p.d = static_cast<std::uint16_t*>(p.d) + row * p.d_row + col;
  p.m -= row, p.n -= col;
  return p;
}

// Stores a warpgroup's sums. The block's tile begins at (row, col), these sums `first` rows later.
template <int n, class Sums>
__device__ void store_sums(const Sums& sums, const GemmParams& p, long long row, long long col,
                           int first) {
  const GemmParams tile = part_from(p, row, col);
  const int of_warp = first + static_cast<int>(threadIdx.x) / 32 % 4 * epilogue::kWarpRows;
  if (p.beta == 0) {
    epilogue::store_directly<ElementType::kBf16, false, n>(sums, tile, of_warp, 0);
  } else {
    epilogue::store_directly<ElementType::kBf16, true, n>(sums, tile, of_warp, 0);
  }
}

}  // namespace tessera::ladder
