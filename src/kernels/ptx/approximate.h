// Functions that a GPU approximates in one instruction, to about 22 bits. Numbers below 2^-126
// count as 0.
//
// WHY inline assembly: the intrinsics handle small numbers, with three more instructions.
#pragma once

namespace tessera::ptx {

// Returns 2^x, with an error of at most 2 units in the last place.      PTX ISA: ex2
__device__ inline float exp2_approximately(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Returns 1 / x, with an error of at most 1 unit in the last place.     PTX ISA: rcp
__device__ inline float reciprocal_approximately(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace tessera::ptx
