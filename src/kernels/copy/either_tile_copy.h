// Copies the tiles of one operand, in the order of k, into shared tiles, for either contiguous
// index and any alignment: by cp.async in pieces of 16, 8 or 4 bytes, as base and stride allow.
// Rows at odd multiples of 2 bytes go through registers: a piece is shifted out of two aligned
// pieces of 16 bytes. Tiles completely inside of the matrix are copied by cp.async without
// predicates; elements outside of the matrix become zeros.
#pragma once

#include "kernels/copy/operand.h"
#include "kernels/ptx/cp_async.h"
#include "kernels/tile/either_tile.h"
#include "kernels/tile/realign.h"
#include "kernels/tile/vector.h"

namespace tessera::copy {

// Returns log2 of the number of elements in the largest piece that divides base and stride.
template <class T>
__device__ int log2_width_of_pieces(const T* data, long long stride) {
  const auto both = reinterpret_cast<unsigned long long>(data) |
                    static_cast<unsigned long long>(stride) * sizeof(T) | 16;
  return __ffsll(static_cast<long long>(both)) - 1 - tile::log2_of(sizeof(T));
}

// The aligned pieces of 16 bytes that are completely inside a matrix in memory.
class WholeSixteens {
 public:
  WholeSixteens() = default;
  // The matrix has `lines` lines of `along` adjacent elements each, both at least 1.
  template <class T>
  __device__ WholeSixteens(const T* data, long long lines, long long along, long long stride)
      : first_(number_of(reinterpret_cast<const char*>(data) + 15)),
        count_(number_of(data + (lines - 1) * stride + along) - first_) {}

  // Whether the aligned `piece` and the next one are both inside the matrix.
  __device__ bool hold_two(const void* piece) const {
    const std::uint32_t at = number_of(piece) - first_;
    return at < count_ && at + 1 < count_;
  }

 private:
  // WHY 32 bits are enough: only differences of these numbers are used.
  __device__ static std::uint32_t number_of(const void* address) {
    return static_cast<std::uint32_t>(reinterpret_cast<unsigned long long>(address) / 16);
  }

  std::uint32_t first_, count_;
};

// All threads of the CTA copy, each with its own object of this class.
template <class Tile, int threads>
class EitherTileCopy {
 public:
  using T = typename Tile::Element;
  using Map = tile::EitherCopyMap<Tile, threads>;

  // Element (outer, k) of the operand is at index outer * by_outer + k * by_k of `data`; by_outer
  // or by_k is 1. The first tile begins at (first_outer, first_k).
  __device__ EitherTileCopy(const T* data, long long by_outer, long long by_k, long long outer,
                            long long k, long long first_outer, long long first_k)
      : map_{by_k == 1, log2_width_of_pieces(data, by_k == 1 ? by_outer : by_k)},
        to_next_line_(map_.along_k ? by_outer : by_k) {
    if (kShifts && map_.log2_width == 0) {
      is_shifted_ = true;
      map_.log2_width = tile::log2_of(Tile::kChunk);
      sixteens_ = map_.along_k ? WholeSixteens(data, outer, k, by_outer)
                               : WholeSixteens(data, k, outer, by_k);
    }
    const int o = map_.outer(threadIdx.x);
    k_ = map_.k(threadIdx.x);
    outer_left_ = tile::inside(first_outer, outer, Tile::kOuter) - o;
    whole_ = first_outer + Tile::kOuter <= outer;
    place_ = Tile::offset(map_.along_k, o, k_);
    next_ = data + (first_outer + o) * by_outer + (first_k + k_) * by_k;
  }

  __device__ bool along_k() const { return map_.along_k; }

  // For pipeline/cp_async_ring.h: false, since copy_part() itself chooses the path for whole tiles.
  __device__ bool copies_whole_tiles() const { return false; }

  // Starts the copy of the whole next tile, whose first `k_inside` k indices are in the matrix.
  template <bool>
  __device__ void copy_part(Tile& tile, int k_inside, int, int) {
    // WHY no switch: ptxas compiles a switch to an indirect jump through a table.
    const int bytes = map_.width() * static_cast<int>(sizeof(T));
    if (kShifts && is_shifted_) {
      if constexpr (kShifts) copy_shifted(tile, k_inside);
    } else if (bytes > 8) {
      copy_pieces<16>(tile, k_inside);
    } else if (bytes > 4) {
      copy_pieces<8>(tile, k_inside);
    } else {
      copy_pieces<4>(tile, k_inside);
    }
    next_ += Tile::kK * (map_.along_k ? 1 : to_next_line_);
  }

 private:
  static constexpr bool kShifts = sizeof(T) == 2;  // HW: the least that cp.async copies is 4 bytes
  static constexpr int kPattern = 8;               // rows after which the swizzle repeats
  static constexpr int kTogether = 4;              // pieces of a thread that are copied together
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

  // Copies this thread's pieces; `bytes` of each, in the first `lines` lines, are in the matrix.
  //
  // WHY this order: pieces that are a whole pattern of the swizzle apart have the same position in
  // their rows, so the addresses of a copy take two additions.
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

  // Copies lines that are not aligned for cp.async through registers. Each piece is shifted out of
  // the two aligned pieces that contain it. A thread's pieces are a multiple of the pattern apart,
  // so that all its pieces have the same misalignment.
  //
  // The aligned pieces may include elements of other lines or gaps between lines, but nothing
  // outside of the matrix: pieces at the matrix's two ends are read element by element.
  __device__ void copy_shifted(Tile& tile, int k_inside) const {
    const int k_left = k_inside - k_;
    const int there = min(map_.along_k ? k_left : outer_left_, Tile::kChunk);
    const int lines = there > 0 ? map_.along_k ? outer_left_ : k_left : 0;
    const int behind = static_cast<int>(reinterpret_cast<unsigned long long>(next_) / 2 % 8);
    const long long to_next = map_.lines() * to_next_line_;
    const T* from = next_;
    unsigned char* to = tile.bytes + place_;
#pragma unroll 1
    for (int line = 0; line < map_.rows(); line += kTogether * map_.lines()) {
      uint4 low[kTogether], high[kTogether];
      bool all_held = true;
#pragma unroll
      for (int j = 0; j < kTogether; ++j) {
        const uint4* aligned = reinterpret_cast<const uint4*>(from + j * to_next - behind);
        const bool inside = line + j * map_.lines() < lines, held = sixteens_.hold_two(aligned);
        low[j] = inside && held ? aligned[0] : uint4{};
        high[j] = inside && held ? aligned[1] : uint4{};
        all_held &= held || !inside;
      }
#pragma unroll
      for (int j = 0; j < kTogether; ++j) {
        *reinterpret_cast<uint4*>(to + j * map_.lines() * Tile::AlongK::kRowBytes) =
            first_elements(tile::realigned<T>(low[j], high[j], behind), there);
      }
      if (!all_held) {
#pragma unroll 1
        for (int j = 0; j < kTogether && line + j * map_.lines() < lines; ++j) {
          const T* piece = from + j * to_next;
          if (sixteens_.hold_two(piece - behind)) continue;
          copy_elements(to + j * map_.lines() * Tile::AlongK::kRowBytes, piece, there);
        }
      }
      from += kTogether * to_next;
      to += kTogether * map_.lines() * Tile::AlongK::kRowBytes;
    }
  }

  // Returns a piece with all elements from `count` on set to zero.
  static __device__ uint4 first_elements(uint4 piece, int count) {
    const auto of_word = [count](std::uint32_t word, int i) {
      return count > 2 * i + 1 ? word : count > 2 * i ? word & 0xffff : 0;
    };
    return {of_word(piece.x, 0), of_word(piece.y, 1), of_word(piece.z, 2), of_word(piece.w, 3)};
  }

  static __device__ void copy_elements(void* to, const T* from, int count) {
    T values[Tile::kChunk];
#pragma unroll
    for (int i = 0; i < Tile::kChunk; ++i) values[i] = i < count ? from[i] : T{};
    *static_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(values);
  }

  Map map_;
  bool is_shifted_ = false;  // not all lines begin at multiples of 4 bytes
  WholeSixteens sixteens_;   // used if is_shifted_
  bool whole_;               // the tile is inside of the matrix along outer
  int outer_left_;           // extent inside of the matrix, from this thread's first piece on
  int k_, place_;            // position of that piece in the tile: k and offset in bytes
  long long to_next_line_;   // elements between neighbouring lines
  const T* next_;            // that piece of the next tile
};

}  // namespace tessera::copy
