// Floating-point formats narrower than double, in integer arithmetic: any rounding mode, no state
// of the host. Sums, products and fused sums of halves are computed in double; an inexact one is
// rounded to odd there, so that the rounding to half is the only one that counts.
#pragma once

#include "vgpu/program/integers.h"
#include "vgpu/program/operation.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

// A format of 16 or 32 bits: sign, exponent, mantissa, as an integer of type Word.
template <class Word, int exponent_bits>
struct SmallFloat {
  using Bits = Word;
  static constexpr int kMantissaBits = 8 * int(sizeof(Word)) - 1 - exponent_bits;
  static constexpr int kBias = (1 << (exponent_bits - 1)) - 1;
  static constexpr Word kInfinity = Word(Word((1u << exponent_bits) - 1) << kMantissaBits);
  static constexpr Word kSign = Word(Word(1) << (8 * sizeof(Word) - 1));
  static constexpr Word kNan = Word(kSign - 1);  // the NaN that arithmetic returns
  static constexpr Word kOne = Word(Word(kBias) << kMantissaBits);

  static bool is_nan(Word x) { return Word(x & Word(~kSign)) > kInfinity; }

  // Exact.
  static double widen(Word x) {
    const int exponent = int((x & Word(~kSign)) >> kMantissaBits);
    const u64 mantissa = x & ((Word(1) << kMantissaBits) - 1);
    const u64 sign = x & kSign ? u64(1) << 63 : 0;
    if (exponent == (1 << exponent_bits) - 1) {
      return __builtin_bit_cast(double, sign | u64(0x7ff) << 52 | mantissa << (52 - kMantissaBits));
    }
    const int lowest = exponent == 0 ? 1 : exponent;
    const double scale =
        __builtin_bit_cast(double, u64(1023 - kBias - kMantissaBits + lowest) << 52);
    const double whole = double(exponent == 0 ? mantissa : mantissa | u64(1) << kMantissaBits);
    return __builtin_bit_cast(double, __builtin_bit_cast(u64, whole * scale) | sign);
  }

  // Rounds once, in the mode that the options name. Any NaN becomes kNan.
  static Word narrow(double x, Options mode = kDefault);
  // Returns the quiet NaN with the same sign and the high bits of the payload.
  static Word narrow_nan(double nan) {
    const u64 bits = __builtin_bit_cast(u64, nan) | u64(1) << 51;
    const u64 payload = (bits & ((u64(1) << 52) - 1)) >> (52 - kMantissaBits);
    return Word((bits >> 63 != 0 ? kSign : 0) | kInfinity | Word(payload));
  }
};

inline bool rounds_up(u64 kept, u64 rest, u64 half, bool negative, Options mode) {
  if (mode & kRz) return false;
  if (mode & kRm) return negative && rest != 0;
  if (mode & kRp) return !negative && rest != 0;
  return rest > half || (rest == half && (kept & 1) != 0);
}

template <class Word, int exponent_bits>
Word SmallFloat<Word, exponent_bits>::narrow(double x, Options mode) {
  const u64 bits = __builtin_bit_cast(u64, x);
  const bool negative = bits >> 63 != 0;
  const Word sign = negative ? kSign : 0;
  const u64 fraction = bits & ((u64(1) << 52) - 1);
  const int biased = int(bits >> 52 & 0x7ff);
  if (biased == 0x7ff) return fraction != 0 ? kNan : Word(sign | kInfinity);
  if (biased == 0 && fraction == 0) return sign;
  const int exponent = biased - 1023;
  const bool is_normal = exponent >= 1 - kBias;
  int drop = 52 - kMantissaBits + (is_normal ? 0 : 1 - kBias - exponent);
  if (drop > 54) drop = 54;  // all of it lies below half of the smallest number
  const u64 mantissa = fraction | (biased == 0 ? 0 : u64(1) << 52);
  u64 kept = mantissa >> drop;
  const u64 rest = mantissa & ((u64(1) << drop) - 1), half = u64(1) << (drop - 1);
  kept += rounds_up(kept, rest, half, negative, mode);
  // The leading one of a normal number's mantissa adds 1 to the exponent, so that `- 1` is right.
  const u64 result = (is_normal ? u64(exponent + kBias - 1) << kMantissaBits : 0) + kept;
  if (result < kInfinity) return Word(sign | Word(result));
  const bool stays = mode & kRz || (mode & kRm && !negative) || (mode & kRp && negative);
  return Word(sign | Word(stays ? kInfinity - 1 : kInfinity));
}

using F16 = SmallFloat<u16, 5>;
using Bf16 = SmallFloat<u16, 8>;
using F32 = SmallFloat<u32, 8>;

// Returns a * b + c rounded to odd. The product is exact in double; if the sum is not, its last bit
// is set, so that a later rounding cannot take it for a tie.
inline double fused_odd(double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  const double back = sum - product;
  const double error = (product - (sum - back)) + (c - back);
  const u64 bits = __builtin_bit_cast(u64, sum);
  if (!(error < 0 || error > 0) || (bits & 1) != 0) return sum;
  return __builtin_bit_cast(double, (error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
