// Copies tiles from global to shared memory like Vec4Loader, but word by word.
#pragma once

#include "ladder/shared/vec4.h"

namespace tessera::general_tile {

// The words of one operand's (depth, extent) tiles that one thread moves: consecutive threads take
// consecutive words along the contiguous side.
template <int extent, int depth, int threads, bool along_k>
class ScalarLoader {
 public:
  static constexpr int kCount = extent * depth / threads;

  __device__ ScalarLoader(const ladder::Operand<along_k>& operand, long long first_outer,
                          int thread)
      : operand_(operand), first_outer_(first_outer), thread_(thread) {}

  __device__ void fetch_guarded(long long first_k) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const long long o = first_outer_ + outer(i), l = first_k + k(i);
      words_[i] = o < operand_.outer && l < operand_.k ? *operand_.address(o, l) : 0;
    }
  }

  // Fetches the tile that begins at first_k.
  template <bool guarded>
  __device__ void fetch(long long first_k) {
    if constexpr (guarded) {
      fetch_guarded(first_k);
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        words_[i] = *operand_.address(first_outer_ + outer(i), first_k + k(i));
      }
    }
  }

  __device__ void put(float (&tile)[depth][extent]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) tile[k(i)][outer(i)] = words_[i];
  }
  // Writes the fetched words into a tile whose rows are along k.
  __device__ void put_rows(float (&tile)[extent][depth]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) tile[outer(i)][k(i)] = words_[i];
  }

 private:
  // The position of this thread's word i in the tile.
  __device__ int outer(int i) const {
    const int e = thread_ + i * threads;
    return along_k ? e / depth : e % extent;
  }
  __device__ int k(int i) const {
    const int e = thread_ + i * threads;
    return along_k ? e % depth : e / extent;
  }

  ladder::Operand<along_k> operand_;
  long long first_outer_;
  int thread_;
  float words_[kCount];
};

}  // namespace tessera::general_tile
