// Which NaN an operation returns. All rules are in one place, because measurements decide them.
//
// HW: measured on an H200: an FP32 operation returns the canonical NaN 0x7fffffff, whatever its
// operands are. An FP64 operation returns one of its NaN operands, made quiet, with sign and
// payload kept: the second operand before the first, and before the third. Negation and absolute
// value keep the sign of a NaN: both are sums with -0. If no operand is NaN (inf - inf), the result
// is 0xfff8000000000000.
// These are operands of the machine instruction: if ptxas exchanges those of a sum or product, it
// chooses which of two NaNs is returned. Here the order is that of the PTX.
// Not measured: the third operand before the first. A sum is the fused sum a * 1 + b, whose third
// operand is b, and in sums b comes before a.
#pragma once

#include "vgpu/exec/ops/lift.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

static inline float canonical(float r) {
  return r != r ? __builtin_bit_cast(float, 0x7fffffffu) : r;
}

static inline double quieted(double nan) {
  return __builtin_bit_cast(double, __builtin_bit_cast(u64, nan) | u64(1) << 51);
}

// Returns the result r of an operation on these operands; if r is NaN, the NaN by the rules above.
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
