// cvt between pairs of 8-bit floats (e4m3, e5m2) and pairs of FP32 or FP16 numbers.
#include <cmath>

#include "vgpu/exec/ops/lift.h"
#include "vgpu/exec/ops/tables.h"
#include "vgpu/program/small_float.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

// HW: PTX ISA, "Alternate floating-point data formats": e4m3 has no infinity, and one NaN per sign;
// e5m2 is the upper byte of an FP16 number.
template <int mantissa_bits, int bias, u8 largest>
struct Eight {
  static constexpr u8 kNan = 0x7f;

  // Rounds to nearest, ties to even. Numbers that are too large become the largest finite number
  // (.satfinite).
  static u8 narrow(double x, Options options) {
    if (x != x) return kNan;
    const bool negative = std::signbit(x);
    if (negative && (options & kRelu)) return 0;
    const double size = std::fabs(x);
    int exponent = size == 0 ? -bias : std::ilogb(size);
    if (exponent < 1 - bias) exponent = 1 - bias;
    u8 code = largest;
    if (exponent <= bias + 1) {
      // `units` counts units of the last place, so that a carry out of the mantissa increments the
      // exponent.
      const double units = std::nearbyint(std::ldexp(size, mantissa_bits - exponent));
      const double whole = units + double((exponent + bias - 1) * (1 << mantissa_bits));
      code = whole < largest ? u8(whole) : largest;
    }
    return u8(code | (negative ? 0x80 : 0));
  }
};
using E4m3 = Eight<3, 7, 0x7e>;
using E5m2 = Eight<2, 15, 0x7b>;

template <class Format, Options o>
u16 from_floats(float high, float low) {
  return u16(Format::narrow(double(high), o) << 8 | Format::narrow(double(low), o));
}
template <class Format, Options o>
u16 from_halves(u32 pair) {
  return u16(Format::narrow(F16::widen(u16(pair >> 16)), o) << 8 |
             Format::narrow(F16::widen(u16(pair)), o));
}

u16 half_of_e5m2(u8 x) {
  const u16 half = u16(x << 8);
  return F16::is_nan(half) ? F16::kNan : half;
}
u16 half_of_e4m3(u8 x) {
  if ((x & 0x7f) == 0x7f) return F16::kNan;
  const double size = (x & 0x78) == 0 ? std::ldexp(double(x & 7), -9)
                                      : std::ldexp(double(8 + (x & 7)), (x >> 3 & 15) - 10);
  return F16::narrow(x & 0x80 ? -size : size);
}
template <u16 (*widen)(u8), Options o>
u32 to_halves(u16 pair) {
  const auto one = [](u8 x) {
    const u16 half = widen(x);
    const bool is_negative = half & F16::kSign && !F16::is_nan(half);
    return o & kRelu && is_negative ? u16(0) : half;
  };
  return u32(one(u8(pair >> 8))) << 16 | one(u8(pair));
}

template <Options o>
constexpr Rows<6> all() {
  return {{row<from_floats<E4m3, o>>("cvt.satfinite.e4m3x2.f32", o),
           row<from_floats<E5m2, o>>("cvt.satfinite.e5m2x2.f32", o),
           row<from_halves<E4m3, o>>("cvt.satfinite.e4m3x2.f16x2", o),
           row<from_halves<E5m2, o>>("cvt.satfinite.e5m2x2.f16x2", o),
           row<to_halves<half_of_e4m3, o>>("cvt.f16x2.e4m3x2", o),
           row<to_halves<half_of_e5m2, o>>("cvt.f16x2.e5m2x2", o)}};
}

constexpr auto kRows = all<kDefault>() + all<kRelu>();

}  // namespace

const OperationTable kEightBitsTable = table(kRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
