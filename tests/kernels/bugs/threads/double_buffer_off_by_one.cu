// Two buffers, one filled while the other is read: here it is the same one.
#include "tests/kernels/bugs/args.h"

namespace tessera::bugs {

template <bool intact>
__device__ void kernel(Args args) {
  __shared__ float tile[2][128];  // stage x element of a thread
  const int i = threadIdx.x, rounds = args.n / 128;
  tile[0][i] = args.in[i];
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    const int next = round + 1;
    const int stage = intact ? next % 2 : round % 2;
    if (next < rounds) tile[stage][i] = args.in[next * 128 + i];  // <- here
    sum += tile[round % 2][127 - i];                              // <- here
    __syncthreads();
  }
  args.out[i] = sum;
}

}  // namespace tessera::bugs

extern "C" __global__ void double_buffer_off_by_one__broken(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kBroken>(args);
}
extern "C" __global__ void double_buffer_off_by_one__intact(tessera::bugs::Args args) {
  tessera::bugs::kernel<tessera::bugs::kIntact>(args);
}
