// One tile of an operand into a padded tile in shared memory, whichever way either lies, by
// cp.async: 16 bytes at a time where base and stride are multiples of 16 bytes and nothing is
// transposed, else element by element; elements of two bytes then go through registers. Elements
// outside of the matrix become zeros.
#pragma once

#include "kernels/copy/operand.h"
#include "kernels/ptx/cp_async.h"
#include "kernels/tile/copy_map.h"
#include "kernels/tile/padded_tile.h"
#include "kernels/tile/vector.h"

namespace tessera::copy {

// `along_k`: the operand's neighbours in memory are neighbours in k. All `threads` of the CTA call
// it; the tile begins at (first_outer, first_k) of the operand.
template <bool along_k, int threads, class Tile>
class PaddedTileCopy {
 public:
  using T = typename Tile::Element;

  __device__ PaddedTileCopy(const OperandOf<T>& operand, long long first_outer, long long first_k)
      : outer_(tile::inside(first_outer, operand.outer, Tile::kOuter)),
        k_(tile::inside(first_k, operand.k, Tile::kK)),
        stride_(operand.stride),
        from_(operand.data +
              (along_k ? first_outer * stride_ + first_k : first_k * stride_ + first_outer)) {}

  __device__ void start(Tile& tile) const {
    constexpr bool as_it_lies = Tile::kAlongK == along_k;
    if (as_it_lies && tile::allows_vectors<T>(from_, stride_)) {
      copy_vectors(tile);
    } else {
      copy_elements(tile);
    }
  }

 private:
  static constexpr int kVector = tile::Vector<T>::kWidth;
  using Vectors = tile::ChunkMap<Tile::kOuter, Tile::kK, along_k, threads, kVector>;
  using Elements = tile::ElementMap<Tile::kOuter, Tile::kK, along_k, threads>;

  __device__ void copy_vectors(Tile& tile) const {
    const int across = Vectors::across(threadIdx.x), line = Vectors::line(threadIdx.x);
    const int lines = along_k ? outer_ : k_;  // inside of the matrix
    const int there = tile::inside(across, along_k ? k_ : outer_, kVector);
    const T* from = from_ + line * stride_ + across;
#pragma unroll
    for (int i = 0; i < Vectors::kCount; ++i) {
      const int to = line + i * Vectors::kLines;
      const int count = to < lines ? there : 0;
      ptx::cp_async_past_l1(
          &tile.elements[along_k ? Tile::place(to, across) : Tile::place(across, to)], from,
          static_cast<unsigned>(count * sizeof(T)));
      from += Vectors::kLines * stride_;
    }
  }

  __device__ void copy_elements(Tile& tile) const {
    const int first_outer = Elements::outer(threadIdx.x), first_k = Elements::k(threadIdx.x);
#pragma unroll 4
    for (int i = 0; i < Elements::kOuterCount * Elements::kKCount; ++i) {
      const int o = first_outer + i % Elements::kOuterCount * Elements::kOuterStep;
      const int k = first_k + i / Elements::kOuterCount * Elements::kKStep;
      const bool inside = o < outer_ && k < k_;
      const T* from = from_ + (along_k ? o * stride_ + k : k * stride_ + o);
      T* to = &tile.elements[Tile::place(o, k)];
      if constexpr (sizeof(T) == 2) {
        *to = inside ? *from : T{0};
      } else {
        ptx::cp_async<sizeof(T)>(to, from, inside ? sizeof(T) : 0);
      }
    }
  }

  int outer_, k_;  // of the tile inside of the matrix
  long long stride_;
  const T* from_;  // the tile's first element
};

}  // namespace tessera::copy
