// One warpgroup writes a tile that the other one reads. The reader waits for the writer, but in the
// next round the writer does not wait for the reader.
#include "kernels/ptx/named_barrier.h"
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

enum Event : std::uint32_t { kWritten = 1, kRead = 2 };  // named barriers

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[128];  // one element a thread of either warpgroup
  const int i = threadIdx.x % 128, rounds = args.n / 128;
  if (threadIdx.x < 128) {
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
      if (intact && round > 0) ptx::barrier_sync(kRead, 256);
      tile[i] = args.in[round * 128 + i];  // <- here
      ptx::barrier_sync(kWritten, 256);
    }
  } else {
    float sum = 0;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
      ptx::barrier_sync(kWritten, 256);
      sum += tile[127 - i];  // <- here
      if (intact && round + 1 < rounds) ptx::barrier_arrive(kRead, 256);
    }
    args.out[i] = sum;
  }
}

}  // namespace tessera::bugs

extern "C" __global__ void handover_without_way_back__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void handover_without_way_back__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
