// The inner loop of FP32 kernels for operands with neighbours in k as neighbours in shared
// memory.
//
//   tile of an operand along k    panels of eight k: rows of 32 bytes, swizzled so that eight
//                                 consecutive rows are in 32 banks. Rows 4 i + q (of m or n) with
//                                 the same q are adjacent: a panel has four planes, one per q.
//
// A lane's rows form 4x4 subtiles as in lanes.h: neighbouring lanes read rows 4 i + q with
// neighbouring i.
//
//   A across k    as in ffma.h
//   A along k     a 128-bit load reads four k of a row, and replaces the previous four as soon as
//                 the last of them has been multiplied
//   B along k     in PTX a load reads one k of one column; ptxas loads four k at a time, and the
//                 first of them twice
//
// HW: registers with even and odd numbers are in two banks. An FFMA along a row of outputs reads a
// value of B and a sum, which must be in different banks. If four k of B were in neighbouring
// registers, every second one would be in the sum's bank. A's value stays in the reuse cache.
// TRIED (model: ports; 256x128; in ptxas's order), all worse than this:
// four k of B per load; two k of both operands;
// 8x16 outputs per thread with A along k;
// two sets of two k of A instead of four in place.
#pragma once

#include <cstdint>

#include "kernels/mainloop/ffma_loop.h"
#include "kernels/ptx/shared_load.h"
#include "kernels/ptx/shared_load_element.h"
#include "kernels/tile/thread_accumulators.h"

namespace tessera::mainloop {

// The addresses of a lane's fragments of one operand in a stage: both halves of the lane's first
// row, with four k each; the same address twice if the operand is across k.
struct FragmentAddress {
  std::uint32_t half[2];

  // Returns the addresses for rows of 32 bytes; `row` is the address of the lane's first row.
  __device__ static FragmentAddress along_k(std::uint32_t row) {
    const std::uint32_t swapped = row >> 3 & 16;  // HW: bit 7 of the address changes bit 4
    return {{row + swapped, row + (swapped ^ 16)}};
  }
};

// Fragments and sums of one thread. `cfg` has the members named in ffma.h, and a_along_k(),
// b_along_k(), kPanel.
template <auto cfg>
struct AlongKSteps {
  static constexpr int kDepth = cfg.depth();
  static constexpr int kRows = cfg.thread.m, kCols = cfg.thread.n, kVector = tile::kVector;
  static constexpr int kVectorsA = kRows / kVector, kVectorsB = kCols / kVector;
  static constexpr int kSlots = kDepth * kVectorsA;  // per pass; a slot is four rows of A, one k
  static constexpr bool kAlongA = cfg.a_along_k(), kAlongB = cfg.b_along_k();
  static constexpr int kChunk = 4;  // k per load of A along k
  // Vectors of A in registers, if A is across k.
  static constexpr int kInFlight = 2;
  static constexpr int kAhead = kInFlight - 1;
  static_assert(kDepth % cfg.kPanel == 0 && cfg.kPanel % kChunk == 0);
  // HW: a load takes about thirty cycles; FFMAs of the other rows of the same k hide them.
  static_assert(kRows >= 16);

  struct Addresses {
    FragmentAddress a, b;
  };

  tile::ThreadAccumulators<float, cfg.lanes, cfg.thread> accumulators;
  float a_across[kAlongA ? 1 : kInFlight][kVector];
  float a_along[kAlongA ? kRows : 1][kChunk];
  float b[2][kVectorsB][kVector];

  // The position of a lane's row `i` from `k` on, in a panel of `rows` rows, for `lanes` lanes.
  template <int rows, int lanes, int i, int k>
  struct InPanel {
    static constexpr int kPlane = i % kVector, kBelow = i / kVector * lanes;
    static constexpr int kHalf = (k % cfg.kPanel / 4 + kBelow / 4) % 2;
    static constexpr int kRow = k / cfg.kPanel * rows + kPlane * (rows / 4) + kBelow;
    static constexpr int kOffset = 4 * (kRow * cfg.kPanel + k % 4);
  };
  template <int row, int chunk>
  __device__ void load_row_of_a(const Addresses& from) {
    using At = InPanel<cfg.block.m, cfg.lanes.m, row, kChunk * chunk>;
    ptx::load_shared<At::kOffset>(a_along[row], from.a.half[At::kHalf]);
  }
  // Loads rows of a chunk of A: of the pass at `now`, or after its end the first chunk of `next`.
  template <int chunk, int first, int end>
  __device__ void load_rows_of_a(const Addresses& now, const Addresses& next) {
    if constexpr (first < end) {
      if constexpr (chunk < kDepth / kChunk) load_row_of_a<first, chunk>(now);
      if constexpr (chunk == kDepth / kChunk) load_row_of_a<first, 0>(next);
      load_rows_of_a<chunk, first + 1, end>(now, next);
    }
  }
  template <int k, int first, int end>
  __device__ void load_columns_of_b(const Addresses& from) {
    if constexpr (first < end) {
      using At = InPanel<cfg.block.n, cfg.lanes.n, first, k>;
      ptx::load_shared<At::kOffset>(b[k % 2][first / kVector][first % kVector],
                                    from.b.half[At::kHalf]);
      load_columns_of_b<k, first + 1, end>(from);
    }
  }

  // Loads of operands that are contiguous across k, as in ffma.h.
  template <int number>
  __device__ void load_a_across(const Addresses& from) {
    constexpr int k = number / kVectorsA, vector = number % kVectorsA;
    ptx::load_shared<4 * (k * cfg.pitch_a() + vector * cfg.lanes.m * kVector)>(
        a_across[number % kInFlight], from.a.half[0]);
  }
  template <int k, int vector>
  __device__ void load_b_across(const Addresses& from) {
    ptx::load_shared<4 * (k * cfg.pitch_b() + vector * cfg.lanes.n * kVector)>(b[k % 2][vector],
                                                                               from.b.half[0]);
  }
  template <int k, int vector_a, int vector = 0>
  __device__ void load_share_of_b(const Addresses& now, const Addresses& next) {
    if constexpr (vector * kVectorsA / kVectorsB == vector_a) {
      if constexpr (k < kDepth) load_b_across<k, vector>(now);
      if constexpr (k == kDepth) load_b_across<0, vector>(next);
    }
    if constexpr (vector + 1 < kVectorsB) load_share_of_b<k, vector_a, vector + 1>(now, next);
  }
  template <int number, int end>
  __device__ void load_vectors_of_a(const Addresses& from) {
    if constexpr (number < end) {
      load_a_across<number>(from);
      load_vectors_of_a<number + 1, end>(from);
    }
  }

  // The loads of A before the FFMAs of slot `slot` in the pass at `now`.
  template <int slot>
  __device__ void load_a(const Addresses& now, const Addresses& next) {
    if constexpr (!kAlongA) {
      constexpr int coming = slot + kAhead;
      if constexpr (coming < kSlots) load_a_across<coming>(now);
      if constexpr (coming >= kSlots) load_a_across<coming - kSlots>(next);
    } else {
      // Replaces four rows of A whose last use was in the previous slot.
      constexpr int last = slot - 1 + kVectorsA * kChunk;  // counted from one chunk before the pass
      constexpr int k = last / kVectorsA, vector = last % kVectorsA;
      if constexpr (k % kChunk == kChunk - 1) {
        load_rows_of_a<k / kChunk, kVector * vector, kVector*(vector + 1)>(now, next);
      }
    }
  }
  template <int slot>
  __device__ void load_b(const Addresses& now, const Addresses& next) {
    if constexpr (!kAlongB) {
      load_share_of_b<slot / kVectorsA + 1, slot % kVectorsA>(now, next);
    } else {
      constexpr int k = slot / kVectorsA + 1, kEach = kCols / kVectorsA;
      constexpr int first = slot % kVectorsA * kEach;
      if constexpr (k < kDepth) load_columns_of_b<k, first, first + kEach>(now);
      if constexpr (k == kDepth) load_columns_of_b<0, first, first + kEach>(next);
    }
  }

  // Loads the fragments that must be in registers before the first pass.
  __device__ void load_first(const Addresses& from) {
    if constexpr (kAlongB) load_columns_of_b<0, 0, kCols>(from);
    if constexpr (!kAlongB) load_vectors_of_b<0>(from);
    if constexpr (!kAlongA) load_vectors_of_a<0, kAhead>(from);
    if constexpr (kAlongA) load_rows_of_a<0, 0, kRows - kVector>(from, from);
  }
  template <int vector>
  __device__ void load_vectors_of_b(const Addresses& from) {
    if constexpr (vector < kVectorsB) {
      load_b_across<0, vector>(from);
      load_vectors_of_b<vector + 1>(from);
    }
  }

  template <int k>
  __device__ float a_value(int row, int slot) const {
    if constexpr (kAlongA) return a_along[row][k % kChunk];
    return a_across[slot % kInFlight][row % kVector];
  }
  // Multiplies slots `slot` to `end` of the pass at `now`, while the next fragments are loaded.
  // Rows alternate in direction, so that neighbouring FFMAs share an operand.
  template <int slot, int end>
  __device__ void multiply(const Addresses& now, const Addresses& next) {
    if constexpr (slot < end) {
      constexpr int k = slot / kVectorsA, vector = slot % kVectorsA;
      load_b<slot>(now, next);
      load_a<slot>(now, next);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        const int row = vector * kVector + i;
        const float value = a_value<k>(row, slot);
#pragma unroll
        for (int t = 0; t < kCols; ++t) {
          const int j = i % 2 == 0 ? t : kCols - 1 - t;
          accumulators.sum[row][j] += value * b[k % 2][j / kVector][j % kVector];
        }
      }
      multiply<slot + 1, end>(now, next);
    }
  }
};

// The loop of the warps that multiply: like FfmaMainloop, with fragments at other addresses.
template <auto cfg>
class AlongKMainloop {
 public:
  using Steps = AlongKSteps<cfg>;
  using Addresses = typename Steps::Addresses;

  __device__ AlongKMainloop(const FfmaStages<cfg>& shared, tile::Coord<> lane, tile::Coord<> warp)
      : a_(first_of(&shared.tiles.a[0][0][0], cfg.a_along_k(), warp.m * (cfg.block.m / cfg.warps.m),
                    lane.m)),
        b_(first_of(&shared.tiles.b[0][0][0], cfg.b_along_k(), warp.n * (cfg.block.n / cfg.warps.n),
                    lane.n)),
        loaded_(ptx::shared_address(&shared.ring.tile_loaded[0])) {
    ptx::mbarrier_wait_parity_at(loaded_, 0);
    steps_.load_first(addresses(0));
  }

  // Adds the product of the next `stages` stages to the accumulators. The barrier of the next stage
  // is tested before the FFMAs of a stage, and waited for in the middle of them.
  __device__ void multiply(int stages) {
    constexpr int kHalf = Steps::kSlots / 2;
#pragma unroll 1
    for (; stages > 0; --stages) {
      const bool wraps = stage_ == cfg.stages - 1;
      const int next = wraps ? 0 : stage_ + 1;
      if (wraps) phase_ ^= 1;
      const bool ready = ptx::mbarrier_try_wait_parity_at(loaded(next), phase_);
      steps_.template multiply<0, kHalf>(addresses(stage_), addresses(stage_));
      if (!ready) ptx::mbarrier_wait_parity_at(loaded(next), phase_);
      steps_.template multiply<kHalf, 2 * kHalf>(addresses(stage_), addresses(next));
      FfmaStages<cfg>::Ring::arrive_consumed(stage_);
      stage_ = next;
    }
  }

  __device__ auto& accumulators() { return steps_.accumulators; }

 private:
  // The address of a lane's first fragment in stage 0; if along k, that of the lane's first row.
  __device__ static std::uint32_t first_of(const float* tile, bool along_k, int first_of_warp,
                                           int lane) {
    const int of_lane = along_k ? (first_of_warp / tile::kVector + lane) * cfg.kPanel
                                : first_of_warp + lane * tile::kVector;
    return ptx::kept_in_register(ptx::shared_address(tile + of_lane));
  }
  __device__ static FragmentAddress fragment_of(bool along_k, std::uint32_t first) {
    return along_k ? FragmentAddress::along_k(first) : FragmentAddress{{first, first}};
  }
  __device__ Addresses addresses(int stage) const {
    return {fragment_of(cfg.a_along_k(), a_ + 4 * cfg.stage_a() * stage),
            fragment_of(cfg.b_along_k(), b_ + 4 * cfg.stage_b() * stage)};
  }
  __device__ std::uint32_t loaded(int stage) const {
    return loaded_ + static_cast<std::uint32_t>(sizeof(ptx::Mbarrier)) * stage;
  }

  Steps steps_;
  std::uint32_t a_, b_;   // addresses in stage 0
  std::uint32_t loaded_;  // address of stage 0's barrier
  int stage_ = 0;         // the current stage
  unsigned phase_ = 0;    // the phase of its barrier
};

}  // namespace tessera::mainloop
