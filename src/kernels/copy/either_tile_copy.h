// Tiles of one operand, in the order of k, into shared tiles, whichever index of the operand is
// contiguous and whatever its alignment: by cp.async in pieces of 16, 8 or 4 bytes, as base and
// stride allow, and in pieces of 2 bytes through registers. Tiles that lie inside of the matrix and
// come by 16 bytes are copied without predicates; elements outside of it become zeros.
#pragma once

#include "kernels/copy/operand.h"
#include "kernels/ptx/cp_async.h"
#include "kernels/tile/either_tile.h"
#include "kernels/tile/vector.h"

namespace tessera::copy {

// The largest piece that base and every line are multiples of: log2 of its elements.
template <class T>
__device__ int log2_width_of_pieces(const T* data, long long stride) {
  const auto both = reinterpret_cast<unsigned long long>(data) |
                    static_cast<unsigned long long>(stride) * sizeof(T) | 16;
  return __ffsll(static_cast<long long>(both)) - 1 - tile::log2_of(sizeof(T));
}

// All threads of the CTA copy; each holds one of these.
template <class Tile, int threads>
class EitherTileCopy {
 public:
  using T = typename Tile::Element;
  using Map = tile::EitherCopyMap<Tile, threads>;

  // Element (outer, k) of the operand is at outer * by_outer + k * by_k, one of which is 1. The
  // first tile begins at (first_outer, first_k).
  __device__ EitherTileCopy(const T* data, long long by_outer, long long by_k, long long outer,
                            long long first_outer, long long first_k)
      : map_{by_k == 1, log2_width_of_pieces(data, by_k == 1 ? by_outer : by_k)},
        to_next_line_((map_.along_k ? by_outer : by_k) * map_.lines()),
        to_next_tile_(Tile::kK * by_k - map_.count() * to_next_line_) {
    const int o = map_.outer(threadIdx.x);
    k_ = map_.k(threadIdx.x);
    outer_left_ = tile::inside(first_outer, outer, Tile::kOuter) - o;
    whole_ = map_.width() == Tile::kChunk && first_outer + Tile::kOuter <= outer;
    place_ = Tile::offset(map_.along_k, o, k_);
    next_ = data + (first_outer + o) * by_outer + (first_k + k_) * by_k;
  }

  __device__ bool along_k() const { return map_.along_k; }

  // WHY: a ring asks; this class chooses by itself.
  __device__ bool copies_whole_tiles() const { return false; }

  // Begins to copy the next tile, whose first `k_inside` of k are in the matrix. In one part.
  template <bool>
  __device__ void copy_part(Tile& tile, int k_inside, int, int) {
    if (whole_ && k_inside == Tile::kK) {
      copy_whole(tile);
    } else {
      copy_guarded(tile, k_inside);
    }
    next_ += to_next_tile_;
  }

 private:
  static_assert(tile::copies_whole_patterns<Tile, threads>());

  __device__ void copy_whole(Tile& tile) {
    constexpr int kCount = Tile::kOuter * Tile::kK / threads / Tile::kChunk;
    const int line_bytes = map_.lines() * Tile::AlongK::kRowBytes;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      ptx::cp_async_past_l1(tile.bytes + place_ + i * line_bytes, next_);
      next_ += to_next_line_;
    }
  }

  // How many elements of this thread's piece i, counted from its first one, lie inside of the
  // matrix.
  __device__ int elements_there(int i, int k_inside) const {
    const int line = i * map_.lines();
    const int there = map_.along_k ? (line < outer_left_ ? k_inside - k_ : 0)
                                   : (k_ + line < k_inside ? outer_left_ : 0);
    return there < 0 ? 0 : there < map_.width() ? there : map_.width();
  }

  __device__ void copy_guarded(Tile& tile, int k_inside) {
    if constexpr (sizeof(T) == 2) {
      if (map_.width() == 1) return copy_elements(tile, k_inside);
    }
#pragma unroll 4
    for (int i = 0; i < map_.count(); ++i) {
      copy_piece(tile.bytes + map_.place(place_, i), next_, elements_there(i, k_inside));
      next_ += to_next_line_;
    }
  }

  __device__ void copy_piece(void* to, const T* from, int elements) const {
    const unsigned bytes = static_cast<unsigned>(elements * sizeof(T));
    switch (map_.width() * static_cast<int>(sizeof(T))) {
      case 16:
        return ptx::cp_async_past_l1(to, from, bytes);
      case 8:
        return ptx::cp_async<8>(to, from, bytes);
      default:
        return ptx::cp_async<4>(to, from, bytes);
    }
  }

  // Through registers, what cp.async does not take.
  __device__ void copy_elements(Tile& tile, int k_inside) {
    constexpr int kTogether = 16;  // on their way at once
    static_assert(Map{true, 0}.count() % kTogether == 0);
#pragma unroll 1
    for (int first = 0; first < map_.count(); first += kTogether) {
      T values[kTogether];
#pragma unroll
      for (int j = 0; j < kTogether; ++j) {
        values[j] = elements_there(first + j, k_inside) > 0 ? *next_ : T{};
        next_ += to_next_line_;
      }
#pragma unroll
      for (int j = 0; j < kTogether; ++j) {
        *reinterpret_cast<T*>(tile.bytes + map_.place(place_, first + j)) = values[j];
      }
    }
  }

  Map map_;
  bool whole_;      // along outer, and in the widest pieces
  int outer_left_;  // of the tile inside of the matrix, from this thread's first piece on
  int k_, place_;   // of that piece in the tile
  long long to_next_line_, to_next_tile_;  // elements from a piece to the next one
  const T* next_;                          // the next piece
};

}  // namespace tessera::copy
