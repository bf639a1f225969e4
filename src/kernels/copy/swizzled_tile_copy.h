// Copies the tiles of one operand, in the order of k, by cp.async into swizzled shared tiles: 16
// bytes at a time if base and stride are multiples of 16 bytes, else element by element. Tiles
// inside of the matrix are copied without predicates; elements outside of it become zeros.
#pragma once

#include "kernels/copy/operand.h"
#include "kernels/ptx/cp_async.h"
#include "kernels/tile/swizzled_copy_map.h"
#include "kernels/tile/vector.h"

namespace tessera::copy {

// All `threads` threads copy, each with its own object of this class. A tile is copied in parts, so
// that the copies can be interleaved with other work of the threads.
template <class Tile, int threads>
class SwizzledTileCopy {
 public:
  using T = typename Tile::Element;

  // The first tile begins at (first_outer, first_k). `thread`: index among the threads that copy.
  __device__ SwizzledTileCopy(const OperandOf<T>& operand, long long first_outer, long long first_k,
                              int thread = static_cast<int>(threadIdx.x))
      : vectors_(tile::allows_vectors<T>(operand.data, operand.stride)), stride_(operand.stride) {
    const int o = vectors_ ? Vectors::outer(thread) : Elements::outer(thread);
    k_ = vectors_ ? Vectors::k(thread) : Elements::k(thread);
    outer_left_ = tile::inside(first_outer, operand.outer, Tile::kOuter) - o;
    whole_ = vectors_ && first_outer + Tile::kOuter <= operand.outer;
    place_ = Tile::offset(o, k_);
    const long long outer = first_outer + o, k = first_k + k_;
    next_ = operand.data + (Tile::kAlongK ? outer * stride_ + k : k * stride_ + outer);
  }

  // Whether a tile whose k are all in the matrix is copied 16 bytes at a time without predicates.
  __device__ bool copies_whole_tiles() const { return whole_; }

  // Starts the copy of part `part` of `parts` of the next tile, whose first `k_inside` k indices
  // are in the matrix. `whole`: copies_whole_tiles() is true and `k_inside` is the tile's depth.
  template <bool whole>
  __device__ void copy_part(Tile& tile, int k_inside, int part, int parts) {
    if (whole || vectors_) {
      copy<Vectors, !whole>(tile, k_inside, part, parts);
    } else {
      copy<Elements, true>(tile, k_inside, part, parts);
    }
    if (Tile::kAlongK && part + 1 == parts) next_ += Tile::kK - Tile::kRows * stride_;
  }

 private:
  using Vectors = tile::SwizzledCopyMap<Tile, threads, Tile::kChunk>;
  using Elements = tile::SwizzledCopyMap<Tile, threads, 1>;

  // Returns how many elements of the row are in the matrix, counted from the first element of this
  // thread's piece i. The number may be larger than the piece, or negative.
  template <class Map>
  __device__ int elements_there(int i, int k_inside) const {
    const int line = i * Map::kLines;
    if (Tile::kAlongK) return line < outer_left_ ? k_inside - k_ : 0;
    return k_ + line < k_inside ? outer_left_ : 0;
  }

  template <class Map, bool guarded>
  __device__ void copy(Tile& tile, int k_inside, int part, int parts) {
#pragma unroll
    for (int i = Map::kCount * part / parts; i < Map::kCount * (part + 1) / parts; ++i) {
      int count = Map::kWidth;
      if constexpr (guarded) {
        const int there = elements_there<Map>(i, k_inside);
        count = there < 0 ? 0 : there < Map::kWidth ? there : Map::kWidth;
      }
      void* to = tile.bytes + Map::place(place_, i);
      const unsigned bytes = static_cast<unsigned>(count * sizeof(T));
      if constexpr (Map::kWidth * sizeof(T) == 16) {
        ptx::cp_async_past_l1(to, next_, bytes);
      } else {
        ptx::cp_async<Map::kWidth * sizeof(T)>(to, next_, bytes);
      }
      next_ += Map::kLines * stride_;
    }
  }

  bool vectors_, whole_;
  int outer_left_;  // extent inside of the matrix, from this thread's first piece on
  int k_, place_;   // position of that piece in the tile: k and offset in bytes
  long long stride_;
  const T* next_;  // the next piece
};

}  // namespace tessera::copy
