// A ring of two stages between one thread that loads and 128 that read, as the kernels of this
// folder use it: every element of `in` is read once, and each reader sums its own.
#pragma once

#include "kernels/ptx/bulk_copy.h"
#include "kernels/ptx/fence.h"
#include "kernels/ptx/mbarrier.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

inline constexpr int kReaders = 128, kLoader = 128;  // threads 0-127, and thread 128
inline constexpr std::uint32_t kStageBytes = kReaders * sizeof(float);

struct Ring {
  alignas(128) float tile[2][kReaders];  // stage x element of a reader
  ptx::Mbarrier loaded[2], consumed[2];
};

// Stage of a round, and parity of the phase that ends when this round has loaded or consumed it.
struct Turn {
  int stage;
  std::uint32_t parity;
};
__device__ inline Turn turn_of(int round) {
  return {round % 2, static_cast<std::uint32_t>(round / 2 % 2)};
}

// By one thread; a barrier must follow.
__device__ inline void init(Ring& ring, std::uint32_t consumed_arrivals = kReaders) {
  for (int stage = 0; stage < 2; ++stage) {
    ptx::mbarrier_init(ring.loaded[stage], 1);
    ptx::mbarrier_init(ring.consumed[stage], consumed_arrivals);
  }
  ptx::fence_proxy_async_shared();
}

// This reader is done with the stage: a copy may write it now, and does so through another proxy.
__device__ inline void give_back(Ring& ring, int stage) {
  ptx::fence_proxy_async_shared();
  ptx::mbarrier_arrive(ring.consumed[stage]);
}

}  // namespace tessera::bugs
