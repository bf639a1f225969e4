// Copies the tiles of one operand, in the order of k, into shared tiles that are always (k, outer):
// by cp.async, or in two steps through registers. Copies move 16 bytes at a time if base and stride
// are multiples of 16 bytes and the tile is not transposed, else single elements. Elements outside
// of the matrix become zeros.
#pragma once

#include "kernels/copy/operand.h"
#include "kernels/ptx/cp_async.h"
#include "kernels/tile/copy_map.h"
#include "kernels/tile/vector.h"

namespace tessera::copy {

// All threads of the CTA copy, each with its own object of this class. `pitch`: elements from one k
// to the next in the shared tile.
template <class T, int extent, int depth, bool along_k, int pitch, int threads, bool by_cp_async>
class TileCopy {
 public:
  __device__ TileCopy(const OperandOf<T>& operand, long long first_outer)
      : vectors_(tile::allows_vectors<T>(operand.data, operand.stride)), stride_(operand.stride) {
    // cp.async can transpose only single elements.
    const bool by_element = by_cp_async && (along_k || !vectors_);
    const int thread = threadIdx.x;
    const int across = by_element ? Map<1>::across(thread) : Map<kVector>::across(thread);
    const int line = by_element ? Map<1>::line(thread) : Map<kVector>::line(thread);
    const int o = along_k ? line : across;
    k_ = along_k ? across : line;
    outer_left_ = tile::inside(first_outer, operand.outer, extent) - o;
    next_ = operand.data +
            (along_k ? (first_outer + o) * stride_ + k_ : k_ * stride_ + first_outer + o);
    place_ = k_ * pitch + o;
  }

  // Starts the copy of the next tile to the (k, outer) `tile`. `k_left`: the extent of the operand
  // in k from the tile's first element on.
  __device__ void copy_next(T* tile, long long k_left) {
    if (vectors_ && !along_k) {
      copy<kVector>(tile + place_, tile::inside(0, k_left, depth));
    } else {
      copy<1>(tile + place_, tile::inside(0, k_left, depth));
    }
    next_ += along_k ? depth : depth * stride_;
  }

  // Like copy_next, in two steps through registers: fetch_next(), then put().
  __device__ void fetch_next(long long k_left) {
    const int k_inside = tile::inside(0, k_left, depth);
    const T* from = next_;
#pragma unroll
    for (int i = 0; i < Map<kVector>::kCount; ++i) {
      const int there = elements_there<kVector>(i, k_inside);
      if (vectors_ && there >= kVector) {
        chunks_[i] = *reinterpret_cast<const tile::Vector<T>*>(from);
      } else {
#pragma unroll
        for (int e = 0; e < kVector; ++e) chunks_[i].x[e] = e < there ? from[e] : T{0};
      }
      from += Map<kVector>::kLines * stride_;
    }
    next_ += along_k ? depth : depth * stride_;
  }
  __device__ void put(T* tile) const {
    T* to = tile + place_;
#pragma unroll
    for (int i = 0; i < Map<kVector>::kCount; ++i) {
      if constexpr (along_k) {
#pragma unroll
        for (int e = 0; e < kVector; ++e) to[e * pitch] = chunks_[i].x[e];
      } else {
        *reinterpret_cast<tile::Vector<T>*>(to) = chunks_[i];
      }
      to += Map<kVector>::kLines * (along_k ? 1 : pitch);
    }
  }

 private:
  static constexpr int kVector = tile::Vector<T>::kWidth;
  template <int width>
  using Map = tile::ChunkMap<extent, depth, along_k, threads, width>;

  // Returns how many elements of the row are in the matrix, counted from the first element of this
  // thread's chunk i. The number may be larger than the chunk, or negative.
  template <int width>
  __device__ int elements_there(int i, int k_inside) const {
    const int line = i * Map<width>::kLines;
    if (along_k) return line < outer_left_ ? k_inside - k_ : 0;
    return k_ + line < k_inside ? outer_left_ : 0;
  }

  template <int width>
  __device__ void copy(T* to, int k_inside) const {
    const T* from = next_;
#pragma unroll
    for (int i = 0; i < Map<width>::kCount; ++i) {
      const int there = elements_there<width>(i, k_inside);
      const int count = there < 0 ? 0 : there < width ? there : width;
      const unsigned bytes = static_cast<unsigned>(count * sizeof(T));
      if constexpr (width == 1) {
        ptx::cp_async<sizeof(T)>(to, from, bytes);
      } else {
        ptx::cp_async_past_l1(to, from, bytes);
      }
      from += Map<width>::kLines * stride_;
      to += Map<width>::kLines * (along_k ? 1 : pitch);
    }
  }

  bool vectors_;
  int outer_left_;  // extent inside of the matrix, from this thread's first chunk on
  int k_, place_;   // position of that chunk in the tile: k and offset in elements
  long long stride_;
  const T* next_;  // that chunk of the next tile
  tile::Vector<T> chunks_[Map<kVector>::kCount];
};

}  // namespace tessera::copy
