// Floats of 8 and 16 bits as C++ types. All types have a sign, an exponent and a fraction, so one
// pair of functions converts all types. Host code reads and writes small floats as doubles; a
// double represents every small float exactly.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace tessera {

// Without infinities (kIeee false) the largest exponent is an ordinary exponent, and only the
// pattern of all ones is a NaN. HW: E4M3 of the OCP 8-bit floating point specification.
template <int kExponentBits, int kFractionBits, bool kIeee = true>
struct SmallFloat {
  using Bits = std::conditional_t<kExponentBits + kFractionBits == 7, std::uint8_t, std::uint16_t>;
  Bits bits = 0;

  SmallFloat() = default;
  // Rounds to nearest even. Overflow gives an infinity, or NaN in a type without infinities.
  explicit SmallFloat(double value) : bits(encode(value)) {}
  operator double() const { return decode(bits); }

 private:
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kDropped = 52 - kFractionBits;  // fraction bits that only a double has
  static constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52) - 1;
  static constexpr Bits kTop = ((1 << kExponentBits) - 1) << kFractionBits;
  static constexpr Bits kSign = 1 << (kExponentBits + kFractionBits);
  // kBeyond: the first bit pattern that is not finite. kNan: the pattern to which a NaN is
  // converted.
  static constexpr Bits kBeyond = kIeee ? kTop : kTop | ((1 << kFractionBits) - 1);
  static constexpr Bits kNan = kIeee ? kTop | 1 << (kFractionBits - 1) : kBeyond;

  static Bits encode(double value) {
    const auto from = std::bit_cast<std::uint64_t>(value);
    const Bits sign = from >> 63 ? kSign : Bits{0};
    const int exponent = static_cast<int>(from >> 52 & 0x7ff) - 1023;
    const std::uint64_t fraction = from & kFraction;
    if (exponent == 1024) return sign | (fraction ? nan_of(fraction) : kBeyond);
    // The value is rounded in units of the last place. Numbers below the smallest normal number use
    // the same unit as that number.
    const int missing = exponent < 1 - kBias ? 1 - kBias - exponent : 0;
    const int shift = kDropped + missing;
    if (shift > 53 || exponent == -1023) return sign;  // less than half of the smallest number
    const std::uint64_t significand = fraction | std::uint64_t{1} << 52;
    const std::uint64_t half = std::uint64_t{1} << (shift - 1);
    const std::uint64_t even = significand >> shift & 1;
    const std::uint64_t units = (significand + half - 1 + even) >> shift;
    // The addition also carries the hidden bit, or an overflow of the fraction, into the exponent.
    const int field = missing ? 0 : exponent + kBias - 1;
    const std::int64_t pattern =
        (static_cast<std::int64_t>(field) << kFractionBits) + static_cast<std::int64_t>(units);
    return sign | (field >= 1 << kExponentBits || pattern >= kBeyond ? kBeyond
                                                                     : static_cast<Bits>(pattern));
  }

  // Converts a NaN and keeps its payload, by which a NaN that marks memory is recognised.
  static Bits nan_of(std::uint64_t fraction) {
    return kIeee ? kNan | static_cast<Bits>(fraction >> kDropped) : kNan;
  }

  static double decode(Bits bits) {
    const std::uint64_t sign = static_cast<std::uint64_t>(bits & kSign ? 1 : 0) << 63;
    const int exponent = (bits & ~kSign) >> kFractionBits;
    const std::uint64_t fraction = bits & ((1 << kFractionBits) - 1);
    const bool is_top = (bits & ~kSign) >= kBeyond;
    if (is_top) {
      const bool infinite = kIeee && fraction == 0;
      const std::uint64_t quiet = infinite ? 0 : std::uint64_t{1} << 51;
      return std::bit_cast<double>(sign | std::uint64_t{0x7ff} << 52 | quiet |
                                   (infinite ? 0 : fraction << kDropped));
    }
    if (exponent == 0) {
      constexpr auto kUnit =
          std::bit_cast<double>(static_cast<std::uint64_t>(1023 + 1 - kBias - kFractionBits) << 52);
      const double size = static_cast<double>(fraction) * kUnit;
      return sign ? -size : size;
    }
    return std::bit_cast<double>(sign | static_cast<std::uint64_t>(exponent - kBias + 1023) << 52 |
                                 fraction << kDropped);
  }
};

using Half = SmallFloat<5, 10>;
using Bfloat16 = SmallFloat<8, 7>;
using E4m3 = SmallFloat<4, 3, false>;
using E5m2 = SmallFloat<5, 2>;

}  // namespace tessera
