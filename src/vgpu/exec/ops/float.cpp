// The table of floating-point arithmetic rounded to nearest even, and of operations without
// rounding.
#include "vgpu/exec/ops/float.h"

#include "vgpu/exec/ops/tables.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {
namespace {

// The rows of an operation with all combinations of .ftz and .sat.
template <template <Options> class F>
constexpr Rows<4> single(const char* name) {
  return {{row<F<kDefault>::eval>(name), row<F<kFtz>::eval>(name, kFtz),
           row<F<kSat>::eval>(name, kSat), row<F<kFtz | kSat>::eval>(name, kFtz | kSat)}};
}
template <template <Options> class F>
constexpr Rows<1> twice(const char* name) {
  return {{row<F<kDefault>::eval>(name)}};
}

constexpr auto kRounded =
    single<Add32>("add.f32") + single<Sub32>("sub.f32") + single<Mul32>("mul.f32") +
    single<Fma32>("fma.f32") + single<Fma32>("mad.f32") + single<Div32>("div.f32") +
    single<Rcp32>("rcp.f32") + single<Sqrt32>("sqrt.f32") + twice<Add64>("add.f64") +
    twice<Sub64>("sub.f64") + twice<Mul64>("mul.f64") + twice<Fma64>("fma.f64") +
    twice<Fma64>("mad.f64") + twice<Div64>("div.f64") + twice<Rcp64>("rcp.f64") +
    twice<Sqrt64>("sqrt.f64");

// ---- sign, minimum and maximum ----------------------------------------------------------------

template <Options o>
float neg32(float a) {
  const float x = in<o>(a);
  return canonical(__builtin_bit_cast(float, __builtin_bit_cast(u32, x) ^ 0x80000000u));
}
template <Options o>
float abs32(float a) {
  const float x = in<o>(a);
  return canonical(__builtin_bit_cast(float, __builtin_bit_cast(u32, x) & 0x7fffffffu));
}
// HW: measured on an H200: a NaN keeps its sign and becomes quiet.
double neg64(double a) {
  return a != a ? quieted(a)
                : __builtin_bit_cast(double, __builtin_bit_cast(u64, a) ^ u64(1) << 63);
}
double abs64(double a) {
  return a != a ? quieted(a)
                : __builtin_bit_cast(double, __builtin_bit_cast(u64, a) & ~(u64(1) << 63));
}

// -0 is less than +0. If one operand is NaN, the result is the other one; with .NaN it is NaN.
inline bool less(float a, float b) {
  return a < b || (a == b && __builtin_bit_cast(s32, a) < __builtin_bit_cast(s32, b));
}
inline bool less(double a, double b) {
  return a < b || (a == b && __builtin_bit_cast(s64, a) < __builtin_bit_cast(s64, b));
}
template <Options o>
float min32(float x, float y) {
  const float a = in<o>(x), b = in<o>(y);
  const float r = b != b ? a : a != a ? b : less(b, a) ? b : a;
  return canonical(o & kNanOption && (a != a || b != b) ? a + b : r);
}
template <Options o>
float max32(float x, float y) {
  const float a = in<o>(x), b = in<o>(y);
  const float r = b != b ? a : a != a ? b : less(a, b) ? b : a;
  return canonical(o & kNanOption && (a != a || b != b) ? a + b : r);
}
double min64(double a, double b) {
  return settle(b != b ? a : a != a ? b : less(b, a) ? b : a, a, b);
}
double max64(double a, double b) {
  return settle(b != b ? a : a != a ? b : less(a, b) ? b : a, a, b);
}
float copysign32(float sign, float value) { return __builtin_copysignf(value, sign); }
double copysign64(double sign, double value) { return __builtin_copysign(value, sign); }

constexpr Rows<18> kExact = {{
    row<neg32<kDefault>>("neg.f32"),
    row<neg32<kFtz>>("neg.f32", kFtz),
    row<abs32<kDefault>>("abs.f32"),
    row<abs32<kFtz>>("abs.f32", kFtz),
    row<neg64>("neg.f64"),
    row<abs64>("abs.f64"),
    row<min32<kDefault>>("min.f32"),
    row<min32<kFtz>>("min.f32", kFtz),
    row<min32<kNanOption>>("min.f32", kNanOption),
    row<min32<kNanOption | kFtz>>("min.f32", kNanOption | kFtz),
    row<max32<kDefault>>("max.f32"),
    row<max32<kFtz>>("max.f32", kFtz),
    row<max32<kNanOption>>("max.f32", kNanOption),
    row<max32<kNanOption | kFtz>>("max.f32", kNanOption | kFtz),
    row<min64>("min.f64"),
    row<max64>("max.f64"),
    row<copysign32>("copysign.f32"),
    row<copysign64>("copysign.f64"),
}};

// .xorsign.abs: the smaller or larger magnitude, with the sign of the product.
template <auto pick, Options o>
float xorsign(float x, float y) {
  const float magnitude = pick(abs32<kDefault>(x), abs32<kDefault>(y));
  const u32 sign = (__builtin_bit_cast(u32, x) ^ __builtin_bit_cast(u32, y)) & 0x80000000u;
  if (magnitude != magnitude) return magnitude;
  return __builtin_bit_cast(float, __builtin_bit_cast(u32, in<o>(magnitude)) | sign);
}

constexpr Rows<8> kXorsigns = {{
    row<xorsign<min32<kDefault>, kDefault>>("min.f32", kXorsign),
    row<xorsign<max32<kDefault>, kDefault>>("max.f32", kXorsign),
    row<xorsign<min32<kFtz>, kFtz>>("min.f32", kXorsign | kFtz),
    row<xorsign<max32<kFtz>, kFtz>>("max.f32", kXorsign | kFtz),
    row<xorsign<min32<kNanOption>, kDefault>>("min.f32", kXorsign | kNanOption),
    row<xorsign<max32<kNanOption>, kDefault>>("max.f32", kXorsign | kNanOption),
    row<xorsign<min32<kNanOption | kFtz>, kFtz>>("min.f32", kXorsign | kNanOption | kFtz),
    row<xorsign<max32<kNanOption | kFtz>, kFtz>>("max.f32", kXorsign | kNanOption | kFtz),
}};

// ---- approximate instructions -----------------------------------------------------------------
// Computed in double and rounded once: at least as accurate as hardware, but with other bits.

template <Options o>
float rsqrt32(float a) {
  return out<o>(float(1.0 / __builtin_sqrt(double(in<o>(a)))));
}
template <Options o>
float sin32(float a) {
  return out<o>(float(__builtin_sin(double(in<o>(a)))));
}
template <Options o>
float cos32(float a) {
  return out<o>(float(__builtin_cos(double(in<o>(a)))));
}
template <Options o>
float lg2_32(float a) {
  return out<o>(float(__builtin_log2(double(in<o>(a)))));
}
template <Options o>
float ex2_32(float a) {
  return out<o>(float(__builtin_exp2(double(in<o>(a)))));
}
float tanh32(float a) { return canonical(float(__builtin_tanh(double(a)))); }
double rsqrt64(double a) { return settle(1.0 / __builtin_sqrt(a), a); }

constexpr Rows<22> kApproximate = {{
    row<Div32<kDefault>::eval>("div.f32", kApprox),
    row<Div32<kFtz>::eval>("div.f32", kApprox | kFtz),
    row<Rcp32<kDefault>::eval>("rcp.f32", kApprox),
    row<Rcp32<kFtz>::eval>("rcp.f32", kApprox | kFtz),
    row<Sqrt32<kDefault>::eval>("sqrt.f32", kApprox),
    row<Sqrt32<kFtz>::eval>("sqrt.f32", kApprox | kFtz),
    row<rsqrt32<kDefault>>("rsqrt.f32", kApprox),
    row<rsqrt32<kFtz>>("rsqrt.f32", kApprox | kFtz),
    row<sin32<kDefault>>("sin.f32", kApprox),
    row<sin32<kFtz>>("sin.f32", kApprox | kFtz),
    row<cos32<kDefault>>("cos.f32", kApprox),
    row<cos32<kFtz>>("cos.f32", kApprox | kFtz),
    row<lg2_32<kDefault>>("lg2.f32", kApprox),
    row<lg2_32<kFtz>>("lg2.f32", kApprox | kFtz),
    row<ex2_32<kDefault>>("ex2.f32", kApprox),
    row<ex2_32<kFtz>>("ex2.f32", kApprox | kFtz),
    row<tanh32>("tanh.f32", kApprox),
    row<rsqrt64>("rsqrt.f64", kApprox),
    row<rsqrt64>("rsqrt.f64", kApprox | kFtz),
    row<Rcp64<kDefault>::eval>("rcp.f64", kApprox | kFtz),
    row<Rcp64<kDefault>::eval>("rcp.f64", kApprox),
    row<Sqrt64<kDefault>::eval>("sqrt.f64", kApprox),
}};

constexpr auto kFloatRows = kRounded + kExact + kXorsigns + kApproximate;

}  // namespace

const OperationTable kFloatTable = table(kFloatRows);

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
