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
        to_next_line_(map_.along_k ? by_outer : by_k),
        to_next_tile_(Tile::kK * by_k) {
    const int o = map_.outer(threadIdx.x);
    k_ = map_.k(threadIdx.x);
    outer_left_ = tile::inside(first_outer, outer, Tile::kOuter) - o;
    whole_ = first_outer + Tile::kOuter <= outer;
    place_ = Tile::offset(map_.along_k, o, k_);
    next_ = data + (first_outer + o) * by_outer + (first_k + k_) * by_k;
  }

  __device__ bool along_k() const { return map_.along_k; }

  // WHY: a ring asks; this class chooses by itself.
  __device__ bool copies_whole_tiles() const { return false; }

  // Begins to copy the next tile, whose first `k_inside` of k are in the matrix. In one part.
  template <bool>
  __device__ void copy_part(Tile& tile, int k_inside, int, int) {
    // WHY no switch: ptxas makes a jump through a table of one.
    const int bytes = map_.width() * static_cast<int>(sizeof(T));
    if (bytes > 8) {
      copy_pieces<16>(tile, k_inside);
    } else if (bytes > 4) {
      copy_pieces<8>(tile, k_inside);
    } else if (sizeof(T) == 4 || bytes > 2) {
      copy_pieces<4>(tile, k_inside);
    } else if constexpr (sizeof(T) == 2) {
      copy_elements(tile, k_inside);
    }
    next_ += to_next_tile_;
  }

 private:
  static constexpr int kPattern = 8;   // rows of a whole pattern of the swizzle
  static constexpr int kTogether = 4;  // a thread's pieces in the widest form, or more
  static_assert(Map{true, tile::log2_of(Tile::kChunk)}.count() % kTogether == 0 &&
                Tile::kK % (kTogether * kPattern) == 0 &&
                Tile::kOuter % (kTogether * kPattern) == 0);

  template <int kBytes>
  __device__ void copy_pieces(Tile& tile, int k_inside) {
    if (whole_ && k_inside == Tile::kK) return copy_lines<kBytes, false>(tile, 0, kBytes);
    constexpr int kWidth = kBytes / static_cast<int>(sizeof(T));
    const int k_left = k_inside - k_;
    const int elements = map_.along_k ? k_left : outer_left_;
    const int there = elements < 0 ? 0 : elements < kWidth ? elements : kWidth;
    copy_lines<kBytes, true>(tile, map_.along_k ? outer_left_ : k_left,
                             static_cast<unsigned>(there) * sizeof(T));
  }

  // `bytes` of each of the `lines` lines from this thread's first one on are in the matrix.
  //
  // WHY in this order: pieces a whole pattern of the swizzle apart are at the same place of their
  // rows, and a copy then takes two additions.
  template <int kBytes, bool kGuarded>
  __device__ void copy_lines(Tile& tile, int lines, unsigned bytes) const {
    const int pattern = map_.lines() < kPattern ? kPattern : map_.lines();
    const long long to_next = pattern * to_next_line_;
#pragma unroll 1
    for (int first = 0; first < pattern; first += map_.lines()) {
      unsigned char* to = tile.bytes + Tile::AlongK::rows_further(place_, first);
      const T* from = next_ + first * to_next_line_;
#pragma unroll 1
      for (int line = first; line < map_.rows(); line += kTogether * pattern) {
#pragma unroll
        for (int j = 0; j < kTogether; ++j) {
          copy_piece<kBytes>(to, from, !kGuarded || line + j * pattern < lines ? bytes : 0u);
          to += pattern * Tile::AlongK::kRowBytes;
          from += to_next;
        }
      }
    }
  }

  template <int kBytes>
  static __device__ void copy_piece(void* to, const T* from, unsigned bytes) {
    if constexpr (kBytes == 16) {
      ptx::cp_async_past_l1(to, from, bytes);
    } else {
      ptx::cp_async<kBytes>(to, from, bytes);
    }
  }

  // Through registers, what cp.async does not take: one element at a time.
  __device__ void copy_elements(Tile& tile, int k_inside) const {
    constexpr int kInFlight = 16;
    static_assert(Map{true, 0}.count() % kInFlight == 0);
    const int k_left = k_inside - k_;
    const bool is_across = (map_.along_k ? k_left : outer_left_) > 0;
    const int lines = is_across ? map_.along_k ? outer_left_ : k_left : 0;
    const T* from = next_;
#pragma unroll 1
    for (int first = 0; first < map_.count(); first += kInFlight) {
      T values[kInFlight];
#pragma unroll
      for (int j = 0; j < kInFlight; ++j) {
        values[j] = (first + j) * map_.lines() < lines ? *from : T{};
        from += map_.lines() * to_next_line_;
      }
#pragma unroll
      for (int j = 0; j < kInFlight; ++j) {
        *reinterpret_cast<T*>(tile.bytes + map_.place(place_, first + j)) = values[j];
      }
    }
  }

  Map map_;
  bool whole_;      // along outer
  int outer_left_;  // of the tile inside of the matrix, from this thread's first piece on
  int k_, place_;   // of that piece in the tile
  long long to_next_line_, to_next_tile_;  // elements from a piece to the next one
  const T* next_;                          // the next piece
};

}  // namespace tessera::copy
