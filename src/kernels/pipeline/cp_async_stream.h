// A ring of stages as in cp_async_ring.h for one product tile after another: where the copies of
// one output tile's operands end, those of the next one begin, so that nobody waits for first tiles
// while sums are stored.
#pragma once

#include "kernels/ptx/cp_async.h"

namespace tessera::pipeline {

// What is copied for one output tile.
template <class CopyA, class CopyB>
struct Operands {
  CopyA a;
  CopyB b;
  int tiles;  // along k, at least one
};

// All threads of the CTA call everything. A stage has the tiles `a` and `b`, and kDepth, its k.
// `Source`: has_next(), next(), the Operands of the next output tile, and tail(), the k of the last
// tile of those.
template <class Stage, class CopyA, class CopyB, class Source, int stages>
class CpAsyncStream {
 public:
  // Begins to copy the first tiles; finish_next() must follow.
  __device__ CpAsyncStream(Stage* ring, Source source)
      : ring_(ring), source_(source), operands_(source_.next()) {
    count_tiles();
#pragma unroll 1
    for (current_ = 0; current_ < kAhead; ++current_) {
      start_next<false>(0, 1, current_);
      move_on();
    }
  }

  __device__ const Stage& current() const { return ring_[current_]; }

  // Whether the next tile can be copied without predicates.
  __device__ bool next_is_whole() const { return operands_.tiles >= last_whole_; }

  // Begins to bring part `part` of `parts` of another tile; beyond the last one they are zeros, and
  // nothing is read.
  template <bool whole>
  __device__ void start_next(int part, int parts) {
    start_next<whole>(part, parts, current_ == 0 ? stages - 1 : current_ - 1);
  }

  // Makes the next tile the current one, which nobody reads any more.
  __device__ void finish_next() {
    ptx::cp_async_wait_group<kAhead - 1>();
    __syncthreads();
    current_ = current_ + 1 >= stages ? 0 : current_ + 1;
  }

  // After all parts of a tile: what comes next may be another output tile's.
  __device__ void move_on() {
    if (operands_.tiles != 0) return;
    if (source_.has_next()) {
      operands_ = source_.next();
      count_tiles();
    } else {
      operands_.tiles = -1;
      last_whole_ = kNever;
    }
  }

 private:
  static constexpr int kAhead = stages - 1;  // tiles on their way
  static constexpr int kDepth = Stage::kDepth, kNever = 0x7fffffff;

  __device__ void count_tiles() {
    const bool whole = operands_.a.copies_whole_tiles() && operands_.b.copies_whole_tiles();
    last_whole_ = !whole ? kNever : source_.tail() == kDepth ? 1 : 2;
  }

  template <bool whole>
  __device__ void start_next(int part, int parts, int stage) {
    const int k_inside = whole || operands_.tiles > 1 ? kDepth
                         : operands_.tiles == 1       ? source_.tail()
                                                      : 0;
    operands_.a.template copy_part<whole>(ring_[stage].a, k_inside, part, parts);
    operands_.b.template copy_part<whole>(ring_[stage].b, k_inside, part, parts);
    if (part + 1 < parts) return;
    ptx::cp_async_commit_group();
    --operands_.tiles;
  }

  Stage* ring_;
  Source source_;
  Operands<CopyA, CopyB> operands_;  // from the next tile on; -1 of them or less: there is none
  int last_whole_;                   // operands_.tiles at the last one that is whole
  int current_;
};

}  // namespace tessera::pipeline
