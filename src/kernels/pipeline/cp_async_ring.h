// A ring of stages in shared memory for kernels in which all threads both copy, by cp.async, and
// multiply. `stages - 1` tiles are being copied while one is multiplied. Each thread waits for its
// own copies; a barrier of the CTA then makes all copies visible, and ensures that all threads have
// read the stage that is filled next.
#pragma once

#include "kernels/ptx/cp_async.h"

namespace tessera::pipeline {

// The content of stages after the last tile. kZeros: the stages are filled with zeros. kNothing:
// they are not filled, which saves time if there are few tiles. The last tile then remains the
// current tile, and fragments that are loaded ahead come from it again.
enum class Beyond { kZeros, kNothing };

// All threads of the CTA call all functions. A stage has tiles `a` and `b`, kDepth long in k.
template <class Stage, class CopyA, class CopyB, int stages, Beyond beyond = Beyond::kZeros>
class CpAsyncRing {
 public:
  // `k`: the extent to multiply, from the first tile on; not 0.
  __device__ CpAsyncRing(Stage* ring, const CopyA& a, const CopyB& b, long long k)
      : ring_(ring),
        a_(a),
        b_(b),
        tiles_(static_cast<int>((k + kDepth - 1) / kDepth)),
        tail_(static_cast<int>(k - (tiles_ - 1LL) * kDepth)),
        last_whole_(!(a.copies_whole_tiles() && b.copies_whole_tiles()) ? kNever
                    : tail_ == kDepth                                   ? 1
                                                                        : 2) {
#pragma unroll 1
    for (current_ = 0; current_ < kAhead; ++current_) {
      if (beyond == Beyond::kZeros || has_next()) {
        start_next<false>(0, 1, current_);
      } else {
        start_nothing();
      }
    }
    finish_next();
  }

  __device__ const Stage& current() const { return ring_[current_]; }

  // Whether the next tile can be copied without predicates.
  __device__ bool next_is_whole() const { return tiles_ >= last_whole_; }

  // Whether there is another tile to copy.
  __device__ bool has_next() const { return tiles_ > 0; }

  // Starts the copy of part `part` of `parts` of another tile. After the last tile, zeros are
  // written and nothing is read.
  template <bool whole>
  __device__ void start_next(int part, int parts) {
    start_next<whole>(part, parts, current_ == 0 ? stages - 1 : current_ - 1);
  }

  // Replaces start_next() after the last tile: commits an empty group.
  __device__ void start_nothing() {
    ptx::cp_async_commit_group();
    --tiles_;
  }

  // Makes the next tile the current one. All threads must have finished with the current one.
  __device__ void finish_next() {
    ptx::cp_async_wait_group<kAhead - 1>();
    __syncthreads();
    if (beyond == Beyond::kNothing && !has_tile()) return;
    current_ = current_ + 1 >= stages ? 0 : current_ + 1;
  }

  // Whether the current tile is inside of the matrix in k; between start_next() and finish_next(),
  // whether the next tile is.
  __device__ bool has_tile() const { return tiles_ > -kAhead; }

  // Waits for all copies: no copy may be running when the block ends or uses the ring again.
  __device__ void drain() const {
    ptx::cp_async_wait_all();
    __syncthreads();
  }

 private:
  static constexpr int kAhead = stages - 1;  // tiles in flight
  static constexpr int kDepth = Stage::kDepth, kNever = 0x7fffffff;

  template <bool whole>
  __device__ void start_next(int part, int parts, int stage) {
    const int k_inside = whole || tiles_ > 1 ? kDepth : tiles_ == 1 ? tail_ : 0;
    a_.template copy_part<whole>(ring_[stage].a, k_inside, part, parts);
    b_.template copy_part<whole>(ring_[stage].b, k_inside, part, parts);
    if (part + 1 == parts) start_nothing();
  }

  Stage* ring_;
  CopyA a_;
  CopyB b_;
  int tiles_;       // number of tiles from the next one on; less than 1 after the last tile
  int tail_;        // k of the last tile
  int last_whole_;  // the value of tiles_ for the last whole tile
  int current_;
};

}  // namespace tessera::pipeline
