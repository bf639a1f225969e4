// Frames for experiments on register ports: kernels with room for instructions. The program that
// runs them overwrites the room, a straight run of PMTRIG, with exact machine code; what stands
// around it makes data for it, notes the clocks and hands its results out.
#pragma once

#include "tests/calibration/params.h"
#include "tests/calibration/registers.h"

namespace tessera::calibration {
#define FOUR_TIMES(text) text text text text
#define SLOTS_256 FOUR_TIMES(FOUR_TIMES(FOUR_TIMES(FOUR_TIMES("pmevent 1;\n"))))
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

// WHY: the index of the thread is read anew behind the room, so that no register but those of the
// first clock lives across it.
__device__ unsigned thread_index() {
  unsigned index;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(index));
  return index;
}

template <int kRegisters, class Room>
__device__ void frame(const Params& p, Room room) {
  __shared__ volatile float words[kSharedWords];
  claim_registers<kRegisters>(p);
  for (unsigned i = thread_index(); i < kOffsetWords; i += blockDim.x) words[i] = number(i);
  const unsigned lane = thread_index();
  if (lane < 32) words[kOffsetWords + lane] = __uint_as_float(p.offsets[lane]);
  __syncthreads();
  const long long begin = clock64();
  room();
  const long long end = clock64();
  const unsigned thread = thread_index();
  __syncthreads();
  if (thread < kResults) p.sink[thread] = __float_as_uint(words[thread]);
  if (thread % 32 != 0) return;
  const long long warp = (static_cast<long long>(blockIdx.x) * blockDim.x + thread) / 32;
  p.clocks[2 * warp] = begin;
  p.clocks[2 * warp + 1] = end;
}

}  // namespace tessera::calibration
