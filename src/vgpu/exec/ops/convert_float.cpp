// cvt from floating point: to integers, to integral values, and between floating-point formats.
#include "vgpu/exec/ops/float.h"
#include "vgpu/exec/ops/integer.h"
#include "vgpu/exec/ops/names.h"
#include "vgpu/exec/ops/tables.h"
#include "vgpu/program/small_float.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

enum class Integral { kNearest, kZero, kDown, kUp };

template <Integral mode>
float integral(float x) {
  switch (mode) {
    case Integral::kNearest:
      return __builtin_rintf(x);
    case Integral::kZero:
      return __builtin_truncf(x);
    case Integral::kDown:
      return __builtin_floorf(x);
    case Integral::kUp:
      return __builtin_ceilf(x);
  }
  return x;
}
template <Integral mode>
double integral(double x) {
  switch (mode) {
    case Integral::kNearest:
      return __builtin_rint(x);
    case Integral::kZero:
      return __builtin_trunc(x);
    case Integral::kDown:
      return __builtin_floor(x);
    case Integral::kUp:
      return __builtin_ceil(x);
  }
  return x;
}

// ---- to integers ------------------------------------------------------------------------------

// The type of the register that holds a T: at least 32 bits.
template <class T>
using Container = decltype(T() + 0);

// A value out of range becomes the nearest integer of the type. NaN becomes 0; if a double or a
// 64-bit integer is involved, only the highest bit is set instead (PTX ISA, cvt).
template <class D, class S, Integral mode, Options o>
Container<D> to_integer(S given) {
  const S x = [&] {
    if constexpr (sizeof(S) == 4) return in<o>(given);
    return given;
  }();
  if (x != x) {
    return D(sizeof(S) == 8 || sizeof(D) == 8 ? u64(1) << (kBits<D> - 1) : 0);
  }
  const S whole = integral<mode>(x);
  constexpr S kBeyond = S(u64(1) << (kBits<D> - 1)) * (kIsSigned<D> ? S(1) : S(2));
  if (whole >= kBeyond) return kMax<D>;
  if (whole < S(kMin<D>)) return kMin<D>;
  return D(whole);
}

template <class D, Piece type, Integral mode, Piece rounding>
constexpr Rows<3> integers() {
  return {
      {row<to_integer<D, float, mode, kDefault>>(join<"cvt.", rounding, ".", type, ".f32">()),
       row<to_integer<D, float, mode, kFtz>>(join<"cvt.", rounding, ".", type, ".f32">(), kFtz),
       row<to_integer<D, double, mode, kDefault>>(join<"cvt.", rounding, ".", type, ".f64">())}};
}
template <class D, Piece type>
constexpr auto to() {
  return integers<D, type, Integral::kNearest, "rni">() +
         integers<D, type, Integral::kZero, "rzi">() + integers<D, type, Integral::kDown, "rmi">() +
         integers<D, type, Integral::kUp, "rpi">();
}

// ---- to integral values -----------------------------------------------------------------------

template <Integral mode, Options o>
float integral32(float x) {
  return out<o>(integral<mode>(in<o>(x)));
}
template <Integral mode>
double integral64(double x) {
  return settle(integral<mode>(x), x);
}
template <class H, Integral mode>
u16 integral16(u16 x) {
  return H::narrow(integral<mode>(H::widen(x)));
}
template <Integral mode, Piece rounding>
constexpr Rows<7> integrals() {
  constexpr const char* kName32 = join<"cvt.", rounding, ".f32.f32">();
  return {{row<integral32<mode, kDefault>>(kName32), row<integral32<mode, kFtz>>(kName32, kFtz),
           row<integral32<mode, kSat>>(kName32, kSat),
           row<integral32<mode, kFtz | kSat>>(kName32, kFtz | kSat),
           row<integral64<mode>>(join<"cvt.", rounding, ".f64.f64">()),
           row<integral16<F16, mode>>(join<"cvt.", rounding, ".f16.f16">()),
           row<integral16<Bf16, mode>>(join<"cvt.", rounding, ".bf16.bf16">())}};
}

// ---- between formats --------------------------------------------------------------------------

// A conversion from a type to itself without modifiers is a mov: ptxas 13.0 removes it.
template <Options o>
float same32(float x) {
  return o == kDefault ? x : out<o>(in<o>(x));
}
double same64(double x) { return x; }

// HW: measured on an H200: a NaN in FP64 does not become the canonical NaN, unlike a NaN in FP32.
// It becomes quiet, keeps its sign (in FP32), and loses the low bits of its payload. Not measured:
// the high bits of the payload, the sign in FP16, and BF16.
template <class Format>
typename Format::Bits narrow_from_f64(double x, Options o) {
  return x != x ? Format::narrow_nan(x) : Format::narrow(x, o);
}

// The host rounds to nearest by itself, and converts NaNs in this way, too.
template <Options o>
float narrow32(double x) {
  if constexpr ((o & kRoundings) == 0) return limited<o>(float(x));
  return limited<o>(__builtin_bit_cast(float, narrow_from_f64<F32>(x, o)));
}
template <Options o>
double widen64(float x) {
  return double(in<o>(x));
}

template <class H, Options o>
u16 finished(u16 r) {
  if (H::is_nan(r)) return o & kSat ? 0 : r;
  if (o & (kSat | kRelu) && r & H::kSign) return 0;
  return o & kSat && r > H::kOne ? H::kOne : r;
}
template <class H, Options o>
u16 narrow16(float x) {
  return finished<H, o>(H::narrow(double(in<o>(x)), o));
}
template <class H, Options o>
u16 narrow16_from_f64(double x) {
  return finished<H, o>(narrow_from_f64<H>(x, o));
}
template <class H, Options o>
u32 narrow_pair(float high, float low) {
  return u32(narrow16<H, o>(high)) << 16 | narrow16<H, o>(low);
}
template <Options o>
float widen_f16(u16 x) {
  return out<o>(float(F16::widen(x)));
}
double widen_f16_to_f64(u16 x) { return F16::widen(x); }
float widen_bf16(u16 x) { return __builtin_bit_cast(float, u32(x) << 16); }

double widen_bf16_to_f64(u16 x) { return Bf16::widen(x); }
template <class To, class From, Options mode>
u16 between_halves(u16 x) {
  return To::narrow(From::widen(x), mode);
}

// .satfinite: an infinite result becomes the largest finite number of its sign.
template <class H, Options o>
u16 finite16(float x) {
  const u16 r = H::narrow(double(x), o);
  const bool is_infinite = (r & u16(~H::kSign)) == H::kInfinity;
  return finished<H, o>(is_infinite ? u16(r - 1) : r);
}
template <class H, Options o>
u32 finite_pair(float high, float low) {
  return u32(finite16<H, o>(high)) << 16 | finite16<H, o>(low);
}

// TF32 has ten mantissa bits. An overflow of the mantissa carries into the exponent, up to
// infinity.
constexpr u32 kInfinity32 = 0x7f800000, kSign32 = 0x80000000, kTf32Rest = 0x1fff;
u32 special_tf32(float x) { return x != x ? 0x7fffffff : __builtin_bit_cast(u32, x); }
bool is_special(float x) { return (__builtin_bit_cast(u32, x) & ~kSign32) >= kInfinity32; }

// Rounds to nearest, ties away from zero (.rna).
u32 away_tf32(float x) {
  if (is_special(x)) return special_tf32(x);
  return (__builtin_bit_cast(u32, x) + 0x1000) & ~kTf32Rest;
}
u32 finite_away_tf32(float x) {
  const u32 r = away_tf32(x);
  return (r & ~kSign32) == kInfinity32 ? r - (kTf32Rest + 1) : r;
}
template <Options o>
u32 round_tf32(float x) {
  const u32 bits = __builtin_bit_cast(u32, x);
  if (o & kRelu && x == x && bits & kSign32) return 0;
  if (is_special(x)) return special_tf32(x);
  const u32 kept = bits >> 13, rest = bits & kTf32Rest;
  return (kept + u32(rounds_up(kept, rest, 0x1000, bits & kSign32, o))) << 13;
}

template <Options mode>
constexpr Rows<9> narrowing() {
  return {{row<narrow32<mode>>("cvt.f32.f64", mode),
           row<narrow32<mode | kFtz>>("cvt.f32.f64", mode | kFtz),
           row<narrow32<mode | kSat>>("cvt.f32.f64", mode | kSat),
           row<narrow16<F16, mode>>("cvt.f16.f32", mode),
           row<narrow16<F16, mode | kFtz>>("cvt.f16.f32", mode | kFtz),
           row<narrow16<F16, mode | kSat>>("cvt.f16.f32", mode | kSat),
           row<narrow16_from_f64<F16, mode>>("cvt.f16.f64", mode),
           row<narrow16<Bf16, mode>>("cvt.bf16.f32", mode),
           row<narrow16_from_f64<Bf16, mode>>("cvt.bf16.f64", mode)}};
}
template <Options mode>
constexpr Rows<6> pairs() {
  return {{row<narrow_pair<F16, mode>>("cvt.f16x2.f32", mode),
           row<narrow_pair<F16, mode | kRelu>>("cvt.f16x2.f32", mode | kRelu),
           row<narrow_pair<Bf16, mode>>("cvt.bf16x2.f32", mode),
           row<narrow_pair<Bf16, mode | kRelu>>("cvt.bf16x2.f32", mode | kRelu),
           row<narrow16<F16, mode | kRelu>>("cvt.f16.f32", mode | kRelu),
           row<narrow16<Bf16, mode | kRelu>>("cvt.bf16.f32", mode | kRelu)}};
}

template <Options mode>
constexpr Rows<8> finites() {
  return {{row<finite16<F16, mode>>("cvt.satfinite.f16.f32", mode),
           row<finite16<F16, mode | kRelu>>("cvt.satfinite.f16.f32", mode | kRelu),
           row<finite16<Bf16, mode>>("cvt.satfinite.bf16.f32", mode),
           row<finite16<Bf16, mode | kRelu>>("cvt.satfinite.bf16.f32", mode | kRelu),
           row<finite_pair<F16, mode>>("cvt.satfinite.f16x2.f32", mode),
           row<finite_pair<F16, mode | kRelu>>("cvt.satfinite.f16x2.f32", mode | kRelu),
           row<finite_pair<Bf16, mode>>("cvt.satfinite.bf16x2.f32", mode),
           row<finite_pair<Bf16, mode | kRelu>>("cvt.satfinite.bf16x2.f32", mode | kRelu)}};
}
template <Options mode>
constexpr Rows<2> halves() {
  return {{row<between_halves<Bf16, F16, mode>>("cvt.bf16.f16", mode),
           row<between_halves<F16, Bf16, mode>>("cvt.f16.bf16", mode)}};
}

constexpr Rows<18> kOthers = {{
    row<same32<kDefault>>("cvt.f32.f32"),
    row<same32<kFtz>>("cvt.f32.f32", kFtz),
    row<same32<kSat>>("cvt.f32.f32", kSat),
    row<same32<kFtz | kSat>>("cvt.f32.f32", kFtz | kSat),
    row<same64>("cvt.f64.f64"),
    row<widen64<kDefault>>("cvt.f64.f32"),
    row<widen64<kFtz>>("cvt.f64.f32", kFtz),
    row<widen_f16<kDefault>>("cvt.f32.f16"),
    row<widen_f16<kFtz>>("cvt.f32.f16", kFtz),
    row<widen_f16_to_f64>("cvt.f64.f16"),
    row<widen_bf16>("cvt.f32.bf16"),
    row<widen_bf16_to_f64>("cvt.f64.bf16"),
    row<away_tf32>("cvt.rna.tf32.f32"),
    row<finite_away_tf32>("cvt.rna.satfinite.tf32.f32"),
    row<round_tf32<kDefault>>("cvt.tf32.f32"),
    row<round_tf32<kRelu>>("cvt.tf32.f32", kRelu),
    row<round_tf32<kRz>>("cvt.tf32.f32", kRz),
    row<round_tf32<kRz | kRelu>>("cvt.tf32.f32", kRz | kRelu),
}};

constexpr auto kRows = to<u8, "u8">() + to<s8, "s8">() + to<u16, "u16">() + to<s16, "s16">() +
                       to<u32, "u32">() + to<s32, "s32">() + to<u64, "u64">() + to<s64, "s64">() +
                       integrals<Integral::kNearest, "rni">() +
                       integrals<Integral::kZero, "rzi">() + integrals<Integral::kDown, "rmi">() +
                       integrals<Integral::kUp, "rpi">() + narrowing<kDefault>() +
                       narrowing<kRz>() + narrowing<kRm>() + narrowing<kRp>() + pairs<kDefault>() +
                       pairs<kRz>() + finites<kDefault>() + finites<kRz>() + halves<kDefault>() +
                       halves<kRz>() + halves<kRm>() + halves<kRp>() + kOthers;

}  // namespace

const OperationTable kConvertFloatTable = table(kRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
