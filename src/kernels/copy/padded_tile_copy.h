// Copies one tile of an operand into a padded tile in shared memory with the same contiguous index,
// by cp.async: 16 bytes at a time if base and stride are multiples of 16 bytes, else element by
// element; elements of two bytes then go through registers. Elements outside of the matrix become
// zeros.
#pragma once

#include "kernels/copy/operand.h"
#include "kernels/ptx/cp_async.h"
#include "kernels/tile/copy_map.h"
#include "kernels/tile/padded_tile.h"
#include "kernels/tile/vector.h"

namespace tessera::copy {

// All `threads` threads copy, each with its own object of this class. The tile begins at
// (first_outer, first_k) of the operand.
template <class Tile, int threads>
class PaddedTileCopy {
 public:
  using T = typename Tile::Element;

  __device__ PaddedTileCopy(const OperandOf<T>& operand, long long first_outer, long long first_k,
                            int thread)
      : thread_(thread),
        rows_(kAlongK ? tile::inside(first_outer, operand.outer, Tile::kRows)
                      : tile::inside(first_k, operand.k, Tile::kRows)),
        in_row_(kAlongK ? tile::inside(first_k, operand.k, Tile::kRow)
                        : tile::inside(first_outer, operand.outer, Tile::kRow)),
        stride_(operand.stride),
        from_(operand.data +
              (kAlongK ? first_outer * stride_ + first_k : first_k * stride_ + first_outer)) {}

  __device__ void start(Tile& tile) const {
    if (!tile::allows_vectors<T>(from_, stride_)) {
      copy_elements(tile);
    } else if (rows_ == Tile::kRows && in_row_ == Tile::kRow) {
      copy_vectors<false>(tile);
    } else {
      copy_vectors<true>(tile);
    }
  }

 private:
  static constexpr bool kAlongK = Tile::kAlongK;
  static constexpr int kVector = tile::Vector<T>::kWidth;
  template <int width>
  using Map = tile::ChunkMap<Tile::kOuter, Tile::kK, kAlongK, threads, width>;

  template <bool guarded>
  __device__ void copy_vectors(Tile& tile) const {
    const int across = Map<kVector>::across(thread_), line = Map<kVector>::line(thread_);
    const int there = guarded ? tile::inside(across, in_row_, kVector) : kVector;
    const T* from = from_ + line * stride_ + across;
    T* to = &tile.elements[line * Tile::kPitch + across];
#pragma unroll
    for (int i = 0; i < Map<kVector>::kCount; ++i) {
      const int row = i * Map<kVector>::kLines;
      const int count = !guarded || line + row < rows_ ? there : 0;
      ptx::cp_async_past_l1(to + row * Tile::kPitch, from,
                            static_cast<unsigned>(count * sizeof(T)));
      from += Map<kVector>::kLines * stride_;
    }
  }

  __device__ void copy_elements(Tile& tile) const {
    const int across = Map<1>::across(thread_), line = Map<1>::line(thread_);
    const T* from = from_ + line * stride_ + across;
    T* to = &tile.elements[line * Tile::kPitch + across];
#pragma unroll 8
    for (int i = 0; i < Map<1>::kCount; ++i) {
      const int row = i * Map<1>::kLines;
      const bool inside = line + row < rows_ && across < in_row_;
      if constexpr (sizeof(T) == 2) {
        to[row * Tile::kPitch] = inside ? *from : T{0};
      } else {
        ptx::cp_async<sizeof(T)>(to + row * Tile::kPitch, from, inside ? sizeof(T) : 0);
      }
      from += Map<1>::kLines * stride_;
    }
  }

  int thread_;
  int rows_, in_row_;  // extents of the part of the tile inside of the matrix
  long long stride_;
  const T* from_;  // the tile's first element
};

}  // namespace tessera::copy
