// How tensor cores add up: the only place in the code that says so (docs/tensor-arithmetic.md
// explains it).
//
// Integers are exact. Doubles are a chain of IEEE fused sums, k ascending. For the narrower
// floating types every product is exact; products and accumulator are then truncated, towards zero,
// to multiples of 2^(e - fraction), where e is the largest exponent among them; the sum of what is
// left is exact and is rounded once. Exponents are those of the operands as they are written: that
// of a product is the sum of its factors', although the product may reach 4, and subnormal numbers
// have the lowest exponent of their type. Instructions with more products than `group` do so group
// after group.
//
// HW: the numbers are those that published measurements of an H100 give (arXiv 2511.10909,
// 2512.07004). An H200 gave the same bits on all of tests/vgpu/instructions/calibrate_*.ptx, but
// that a negative sum too small for a half is +0, as it is here.
#pragma once

#include "vgpu/program/matrix_form.h"
#include "vgpu/program/small_float.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

struct SumModel {
  int fraction = 25;  // bits kept below the largest exponent
  int kept = 23;      // fraction bits of a single-precision result, which is truncated
  int group = 16;     // products that are added at once
  // ptxas makes mma on 8-bit floats of sm_90 out of two products of halves, which start from zero,
  // and one IEEE sum: the bytes 0, 1 of every register first, then 2, 3.
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

// Exponent of zero: below all others.
constexpr s16 kNoExponent = -1000;
// No exponent among the summands counts as less.
constexpr int kLowestExponent = -126;

// The lowest exponent of numbers of the type.
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

// Cut to `kept` bits after the point, towards zero; what is too large for single precision is
// infinite. NaN is the canonical one.
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
