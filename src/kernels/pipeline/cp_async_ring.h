// A ring of stages in shared memory that the threads that multiply also fill, by cp.async: copies
// of stages - 1 tiles are on their way while one is multiplied. Each thread waits for its own
// copies, and a barrier of the CTA for everybody's: it also says that the stage which is filled
// next has been read.
#pragma once

#include "kernels/ptx/cp_async.h"

namespace tessera::pipeline {

// What a stage without a tile holds: zeros, or nothing. Nothing spares a product of few tiles the
// time to fill its stages, and the last tile then stays the current one: what is loaded ahead of
// its use is some of it again.
enum class Beyond { kZeros, kNothing };

// All threads of the CTA call everything. A stage has the tiles `a` and `b`, and kDepth, its k.
template <class Stage, class CopyA, class CopyB, int stages, Beyond beyond = Beyond::kZeros>
class CpAsyncRing {
 public:
  // `k`: how much of it there is to multiply, from the first tile on; not 0.
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

  // Whether there is another tile to bring.
  __device__ bool has_next() const { return tiles_ > 0; }

  // Begins to bring part `part` of `parts` of another tile; beyond the last one they are zeros, and
  // nothing is read.
  template <bool whole>
  __device__ void start_next(int part, int parts) {
    start_next<whole>(part, parts, current_ == 0 ? stages - 1 : current_ - 1);
  }

  // In the place of another tile, beyond the last one.
  __device__ void start_nothing() {
    ptx::cp_async_commit_group();
    --tiles_;
  }

  // Makes the next tile the current one, which nobody reads any more.
  __device__ void finish_next() {
    ptx::cp_async_wait_group<kAhead - 1>();
    __syncthreads();
    if (beyond == Beyond::kNothing && !has_tile()) return;
    current_ = current_ + 1 >= stages ? 0 : current_ + 1;
  }

  // Whether the current tile is one of the matrix; between the start of another one and
  // finish_next(): whether the next one is.
  __device__ bool has_tile() const { return tiles_ > -kAhead; }

  // No copy may be on its way when the block ends, or fills the ring anew.
  __device__ void drain() const {
    ptx::cp_async_wait_all();
    __syncthreads();
  }

 private:
  static constexpr int kAhead = stages - 1;  // tiles on their way
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
  int tiles_;       // from the next one on; beyond the last one less than 1
  int tail_;        // k of the last one
  int last_whole_;  // tiles_ at the last one that is whole
  int current_;
};

}  // namespace tessera::pipeline
