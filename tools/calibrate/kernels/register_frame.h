// Frames for experiments on register ports: kernels with room for instructions. The program that
// runs them overwrites the room, a straight run of PMTRIG, with exact machine code; what stands
// around it makes data for it, notes the clocks and hands its results out.
#pragma once

#include "tools/calibrate/kernels/params.h"
#include "tools/calibrate/kernels/registers.h"

namespace tessera::calibration {

// One instruction each, PMTRIG, that does nothing.
#define FOUR_TIMES(statement) statement statement statement statement
#define SLOTS_4 FOUR_TIMES(__prof_trigger(1);)
#define SLOTS_64 FOUR_TIMES(FOUR_TIMES(SLOTS_4))
#define SLOTS_256 FOUR_TIMES(SLOTS_64)
#define SLOTS_1024 FOUR_TIMES(SLOTS_256)
#define SLOTS_4096 FOUR_TIMES(SLOTS_1024)

// A number in [0.5, 1) with a full mantissa, other for each index.
__device__ float number(unsigned index) {
  return __uint_as_float(0x3f000000U | (index * 2654435761U + 12345U) >> 9);
}

// Never true; so that ptxas gives the kernel this many registers.
template <int kRegisters>
__device__ void claim_registers(const Params& p) {
  if (p.zero == 0) return;
  volatile unsigned* words = p.sink;
  unsigned held[kRegisters];
#pragma unroll
  for (int i = 0; i < kRegisters; ++i) held[i] = words[i];
#pragma unroll
  for (int i = kRegisters - 1; i >= 0; --i) words[i] = held[i] + words[0];
}

template <int kRegisters, class Room>
__device__ void frame(const Params& p, Room room) {
  __shared__ volatile float words[kSharedWords];
  claim_registers<kRegisters>(p);
  for (unsigned i = threadIdx.x; i < kOffsetWords; i += blockDim.x) words[i] = number(i);
  const unsigned thread = threadIdx.x;
  if (thread < 32) words[kOffsetWords + thread] = __uint_as_float(p.offsets[thread]);
  __syncthreads();
  const long long begin = clock64();
  room();
  const long long end = clock64();
  __syncthreads();
  if (thread < kResults) p.sink[thread] = __float_as_uint(words[thread]);
  if (thread % 32 != 0) return;
  const long long warp = (static_cast<long long>(blockIdx.x) * blockDim.x + thread) / 32;
  p.clocks[2 * warp] = begin;
  p.clocks[2 * warp + 1] = end;
}

}  // namespace tessera::calibration
