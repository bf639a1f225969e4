// How tensor cores add: the only code that defines this (docs/tensor-arithmetic.md explains it).
//
// Integers are exact. A sum of doubles is a chain of IEEE fused multiply-adds with ascending k.
// For narrower floating types each product is exact. Products and accumulator are truncated,
// towards zero, to multiples of 2^(e - fraction), where e is the largest exponent among them.
// The sum of the truncated numbers is exact and is rounded once. Exponents are those of the
// operands as stored: the exponent of a product is the sum of its factors' exponents, even if
// the product is 2 or more times that power of two; subnormal numbers have the lowest exponent
// of their type. If an instruction has more than `group` products, they are added group by
// group.
//
// HW: the constants are those of published measurements of an H100 (arXiv 2511.10909,
// 2512.07004). An H200 gave the same bits on all of tests/vgpu/instructions/calibrate_*.ptx,
// except that a negative sum too small for FP16 is +0, as it is here.
#pragma once

#include "vgpu/program/matrix_form.h"
#include "vgpu/program/small_float.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

struct SumModel {
  int fraction = 25;  // bits kept below the largest exponent
  int kept = 23;      // fraction bits of a single-precision result, which is truncated
  int group = 16;     // products that are added at once
  // On sm_90, ptxas splits an mma on 8-bit floats into an FP16 mma of bytes 0 and 1 of each
  // register, an FP16 mma of bytes 2 and 3, both with sums that start from zero, and one IEEE sum.
  bool by_halves = false;
};

static inline SumModel sum_model(const MatrixForm& form) {
  SumModel model;
  model.group = 256 / bits_of(form.a);
  if (is_eight_bit_float(form.a)) {
    if (form.options & kWarpgroup) {
      model.fraction = 13;
      model.kept = 13;
    } else {
      model.group = 16;
      model.by_halves = true;
    }
  }
  return model;
}

// The exponent of zero: less than all others.
constexpr s16 kNoExponent = -1000;
// Summands with a smaller exponent count as if they had this one.
constexpr int kLowestExponent = -126;

// The lowest exponent of numbers of this type.
static inline int lowest_exponent(Element element) {
  switch (element) {
    case Element::kF16:
    case Element::kE5m2:
      return -14;
    case Element::kE4m3:
      return -6;
    default:
      return -126;
  }
}

// Truncates x to `kept` fraction bits. Numbers too large for FP32 become infinite; NaN becomes the
// canonical NaN.
static inline float rounded_single(double x, int kept) {
  if (x != x) return __builtin_bit_cast(float, 0x7fffffffu);
  const u64 bits = __builtin_bit_cast(u64, x);
  int exponent = int(bits >> 52 & 0x7ff) - 1023;
  if (exponent > 127) return __builtin_bit_cast(float, bits >> 63 ? 0xff800000u : 0x7f800000u);
  if (exponent < kLowestExponent) exponent = kLowestExponent;
  const double unit = __builtin_bit_cast(double, u64(1023 + exponent - kept) << 52);
  return float(__builtin_trunc(x / unit) * unit) + 0.0f;  // never -0
}

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
