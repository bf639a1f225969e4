// Global to shared memory by the copy engine: one thread starts the copies of a whole tile. Where
// several CTAs of a cluster need the same tile, each loads a share of it and sends it to all.
#pragma once

#include <cstdint>

#include "kernels/ptx/tensor_copy.h"
#include "kernels/tile/shared_tile.h"

namespace tessera::copy {

// Which share of a tile this CTA loads, and who gets it (a bit mask of ranks in the cluster).
struct Share {
  int index;
  std::uint16_t receivers;
};

// A tile that `shares` CTAs load together: along the rows of its panels.
template <class Tile, int shares>
struct TmaTile {
  static constexpr int kShareRows = Tile::kRows / shares;  // of a panel
  static constexpr int kRows = tile::rows_of_copy(kShareRows);
  static_assert(Tile::kRows % shares == 0 && kRows % 8 == 0);

  // `outer` and `k` are the tile's first element in the matrix. `product`: which matrix of a batch,
  // where the map has three dimensions. The bytes that come are those of the whole tile, whoever
  // sends them.
  template <int rank = 2>
  __device__ static void load(Tile& to_tile, const TensorMap& map, int outer, int k,
                              ptx::Mbarrier& loaded, Share share, int product = 0) {
    const int first_row = share.index * kShareRows;
    const int along = Tile::kKMajor ? k : outer, row = Tile::kKMajor ? outer : k;
#pragma unroll
    for (int panel = 0; panel < Tile::kPanels; ++panel) {
#pragma unroll
      for (int copied = 0; copied < kShareRows; copied += kRows) {
        const int r = first_row + copied;
        void* to = to_tile.bytes + panel * Tile::kPanelBytes + r * tile::kRowBytes;
        const int at = along + panel * Tile::kRow;
        if constexpr (rank == 3) {
          static_assert(shares == 1);
          ptx::tensor_load(to, map, {at, row + r, product}, loaded);
        } else if constexpr (shares == 1) {
          ptx::tensor_load(to, map, {at, row + r}, loaded);
        } else {
          ptx::tensor_load_multicast(to, map, {at, row + r}, loaded, share.receivers);
        }
      }
    }
  }
};

}  // namespace tessera::copy
