// Which NaN an operation gives. One place, because silicon has the last word.
//
// HW: single precision gives the canonical NaN 0x7fffffff whatever came in. Double precision keeps
// the payload of the first NaN among the operands, quieted; a NaN out of numbers (inf - inf) is
// 0xfff8000000000000. (PTX ISA, floating point instructions; not yet measured for double.)
#pragma once

#include "vgpu/exec/ops/lift.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

static inline float canonical(float r) {
  return r != r ? __builtin_bit_cast(float, 0x7fffffffu) : r;
}

static inline double quieted(double nan) {
  return __builtin_bit_cast(double, __builtin_bit_cast(u64, nan) | u64(1) << 51);
}

// The result r of an operation on the operands given.
static inline double settle(double r, double a) {
  const double fresh = __builtin_bit_cast(double, u64(0xfff8000000000000));
  return r == r ? r : a != a ? quieted(a) : fresh;
}
static inline double settle(double r, double a, double b) {
  return r == r ? r : a != a ? quieted(a) : settle(r, b);
}
static inline double settle(double r, double a, double b, double c) {
  return r == r ? r : a != a ? quieted(a) : settle(r, b, c);
}

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
