// cvt between integers, and from integers to floating point. The decoder (convert_rules.cpp) first
// converts narrow integers to 32 bits, so that each conversion exists for only one register width.
#include "vgpu/exec/ops/integer.h"
#include "vgpu/exec/ops/names.h"
#include "vgpu/exec/ops/tables.h"
#include "vgpu/program/small_float.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

template <class R, class T>
R extend(T a) {
  return R(a);
}

// Reads the low bits of a register of type W as a T, and extends them to 32 bits.
template <class T, class W>
u32 take(W a) {
  return u32(s32(T(a)));
}
template <class T, Piece type>
constexpr Rows<3> takes() {
  return {{row<take<T, u16>>(join<"cvt.take.", type, ".16">()),
           row<take<T, u32>>(join<"cvt.take.", type, ".32">()),
           row<take<T, u64>>(join<"cvt.take.", type, ".64">())}};
}

// ---- .sat -------------------------------------------------------------------------------------

// The type of the register that holds a T: at least 32 bits.
template <class T>
using Container = decltype(T() + 0);

template <class D, class S>
Container<D> clamped(S a) {
  __extension__ using Wider = __int128;
  const Wider low = kMin<D>, high = kMax<D>, value = a;
  return D(value < low ? low : value > high ? high : value);
}
template <class D, Piece type>
constexpr Rows<4> clamps() {
  return {{row<clamped<D, s32>>(join<"cvt.clamp.", type, ".s32">()),
           row<clamped<D, u32>>(join<"cvt.clamp.", type, ".u32">()),
           row<clamped<D, s64>>(join<"cvt.clamp.", type, ".s64">()),
           row<clamped<D, u64>>(join<"cvt.clamp.", type, ".u64">())}};
}

constexpr Rows<2> kExtensions = {{
    row<extend<s64, s32>>("cvt.s64.s32"),
    row<extend<u64, u32>>("cvt.u64.u32"),
}};
constexpr auto kIntegers = kExtensions + takes<u8, "u8">() + takes<s8, "s8">() +
                           takes<u16, "u16">() + takes<s16, "s16">() + clamps<u8, "u8">() +
                           clamps<s8, "s8">() + clamps<u16, "u16">() + clamps<s16, "s16">() +
                           clamps<u32, "u32">() + clamps<s32, "s32">() + clamps<u64, "u64">() +
                           clamps<s64, "s64">();

// ---- integers to floating point ---------------------------------------------------------------

// Rounds the integer to its leading `digits` bits. The result is a double, so that a carry out of
// 64 bits is not lost.
template <int digits>
double rounded_integer(u64 magnitude, bool negative, Options mode) {
  const int extra = 64 - __builtin_clzll(magnitude | 1) - digits;
  if (extra <= 0) return double(magnitude);
  const u64 rest = magnitude & ((u64(1) << extra) - 1);
  u64 kept = magnitude >> extra;
  kept += rounds_up(kept, rest, u64(1) << (extra - 1), negative, mode);
  return double(kept) * double(u64(1) << extra);
}

template <int digits, Options mode, class S>
double from_integer(S a) {
  const bool negative = a < 0;
  const u64 magnitude = negative ? 0 - u64(s64(a)) : u64(a);
  const double value = rounded_integer<digits>(magnitude, negative, mode);
  return negative ? -value : value;
}
template <Options mode, class S>
float to_f32(S a) {
  return float(from_integer<24, mode>(a));
}
template <Options mode, class S>
double to_f64(S a) {
  return from_integer<53, mode>(a);
}
// Truncation to 53 bits does no harm: an integer with more bits is beyond the range of FP16.
template <Options mode, class S>
u16 to_f16(S a) {
  return F16::narrow(from_integer<53, kRz>(a), mode);
}
// WHY the lowest of the 53 bits is set: if the bits below were dropped, the value could look like a
// tie between two BF16 numbers.
template <Options mode, class S>
u16 to_bf16(S a) {
  const bool negative = a < 0;
  u64 magnitude = negative ? 0 - u64(s64(a)) : u64(a);
  if (magnitude >> 53 != 0) magnitude = (magnitude >> 11 | u64((magnitude & 0x7ff) != 0)) << 11;
  const double value = double(magnitude);
  return Bf16::narrow(negative ? -value : value, mode);
}
// The host rounds to nearest by itself.
template <class F, class S>
F nearest(S a) {
  return F(a);
}

template <class S, Piece type, Options mode>
constexpr Rows<4> directed() {
  return {{row<to_bf16<mode, S>>(join<"cvt.bf16.", type>(), mode),
           row<to_f32<mode, S>>(join<"cvt.f32.", type>(), mode),
           row<to_f64<mode, S>>(join<"cvt.f64.", type>(), mode),
           row<to_f16<mode, S>>(join<"cvt.f16.", type>(), mode)}};
}
template <class S, Piece type>
constexpr auto from() {
  const Rows<4> to_nearest = {{row<to_bf16<kDefault, S>>(join<"cvt.bf16.", type>()),
                               row<nearest<float, S>>(join<"cvt.f32.", type>()),
                               row<nearest<double, S>>(join<"cvt.f64.", type>()),
                               row<to_f16<kDefault, S>>(join<"cvt.f16.", type>())}};
  return to_nearest + directed<S, type, kRz>() + directed<S, type, kRm>() +
         directed<S, type, kRp>();
}

// ---- cvt.pack ---------------------------------------------------------------------------------

template <class D>
u32 pack16(s32 a, s32 b) {
  return u32(clamped<D, s32>(a)) << 16 | (u32(clamped<D, s32>(b)) & 0xffff);
}
template <class D>
u32 pack8(s32 a, s32 b, u32 c) {
  const u32 high = u32(clamped<D, s32>(a)) & 0xff, low = u32(clamped<D, s32>(b)) & 0xff;
  return c << 16 | high << 8 | low;
}
constexpr Rows<4> kPacks = {{
    row<pack16<u16>>("cvt.pack.u16.s32", kSat),
    row<pack16<s16>>("cvt.pack.s16.s32", kSat),
    row<pack8<u8>>("cvt.pack.u8.s32.b32", kSat),
    row<pack8<s8>>("cvt.pack.s8.s32.b32", kSat),
}};

constexpr auto kRows = kIntegers + from<s32, "s32">() + from<u32, "u32">() + from<s64, "s64">() +
                       from<u64, "u64">() + kPacks;

}  // namespace

const OperationTable kConvertTable = table(kRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
