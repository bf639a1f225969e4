// Two groups of readers take turns at a ring, six rounds each. A group that does not wait until the
// other one has seen its last stage means a phase far ahead, which parity cannot tell from an
// earlier one: it reads rounds of the other group, or waits for a phase that is long over.
#include "kernels/ptx/named_barrier.h"
#include "tests/kernels/bugs/ring.h"

namespace tessera::bugs {

inline constexpr int kTurn = 6;  // rounds

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ Ring ring;
  __shared__ float of_second[kReaders];
  const int group = threadIdx.x / kReaders, i = threadIdx.x % kReaders;
  const int rounds = args.n / kReaders;
  if (threadIdx.x == 0) init(ring);
  __syncthreads();
  float sum = 0;
  if (threadIdx.x == 2 * kReaders) {
    for (int round = 0; round < rounds; ++round) {
      const auto [stage, parity] = turn_of(round);
      ptx::mbarrier_wait_parity(ring.consumed[stage], parity ^ 1);               // <- here
      ptx::mbarrier_arrive_expect_tx(ring.loaded[stage], kStageBytes);           // <- here
      ptx::bulk_load(ring.tile[stage], &args.in[round * kReaders], kStageBytes,  // <- here
                     ring.loaded[stage]);
    }
  } else if (group < 2) {
    for (int first = group * kTurn; first < rounds; first += 2 * kTurn) {
      if (intact && first > 0) ptx::barrier_sync(1 + group, 2 * kReaders);
      for (int round = first; round < first + kTurn; ++round) {
        const auto [stage, parity] = turn_of(round);
        ptx::mbarrier_wait_parity(ring.loaded[stage], parity);  // <- here
        sum += ring.tile[stage][127 - i];                       // <- here
        give_back(ring, stage);
      }
      if (intact && first + kTurn < rounds) ptx::barrier_arrive(2 - group, 2 * kReaders);
    }
  }
  if (group == 1) of_second[i] = sum;
  __syncthreads();
  if (group == 0) args.out[i] = sum + of_second[i];
}

}  // namespace tessera::bugs

extern "C" __global__ void turn_not_waited_for__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void turn_not_waited_for__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
