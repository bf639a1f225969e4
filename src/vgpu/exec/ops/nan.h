// Which NaN an operation gives. One place, because silicon has the last word.
//
// HW: measured on an H200: single precision computes the canonical NaN 0x7fffffff, whatever came
// in. Double precision gives one of the NaNs among the operands, quieted, its sign and payload
// kept: the second operand's before the first's, and before the third's. Taking the negative or the
// absolute value changes no NaN's sign: both are sums with -0. A NaN out of numbers (inf - inf) is
// 0xfff8000000000000.
// These are operands of the machine's instruction: where ptxas exchanges those of a sum or a
// product, it chooses which of two NaNs comes out. Here they are as in the PTX.
// Not measured: the third before the first. A sum is a fused sum whose second factor is 1 and whose
// third operand is the sum's second, so that what holds for sums speaks for it.
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
  return r == r ? r : b != b ? quieted(b) : settle(r, a);
}
static inline double settle(double r, double a, double b, double c) {
  return r == r ? r : b != b ? quieted(b) : c != c ? quieted(c) : settle(r, a);
}

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
