// Copies from global to shared memory by the copy engine: one thread starts the copies of a whole
// tile. If several CTAs of a cluster need the same tile, each CTA sends a share of it to all.
#pragma once

#include <cstdint>

#include "kernels/ptx/tensor_copy.h"
#include "kernels/tile/shared_tile.h"

namespace tessera::copy {

// The share of a tile that this CTA loads, and its receivers (a bit mask of ranks in the cluster).
struct Share {
  int index;
  std::uint16_t receivers;
};

// A tile that `shares` CTAs load together: each loads a part of the rows of every panel.
template <class Tile, int shares>
struct TmaTile {
  static constexpr int kShareRows = Tile::kRows / shares;  // of each panel
  static constexpr int kRows = tile::rows_of_copy(kShareRows);
  static_assert(Tile::kRows % shares == 0 && kRows % 8 == 0);

  // (outer, k) is the tile's first element in the matrix. `product`: the index in a batch, if the
  // map has three dimensions. `loaded` must expect the bytes of the whole tile, including the
  // shares that other CTAs send.
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
