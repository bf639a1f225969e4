// Floating-point arithmetic of PTX as pure functions: .ftz flushes the operands, then the host
// computes the IEEE result, then the rule for NaNs, .ftz and .sat change this result. The current
// rounding mode of the host is used.
#pragma once

#include "vgpu/exec/ops/nan.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

static inline float flushed(float x) {
  const u32 bits = __builtin_bit_cast(u32, x);
  return __builtin_bit_cast(float, (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}
// Clamps x to [0, 1]. NaN becomes +0.
template <class T>
static inline T saturated(T x) {
  return x > T(0) ? (x < T(1) ? x : T(1)) : T(0);
}

template <Options o>
static inline float in(float x) {
  return o & kFtz ? flushed(x) : x;
}
template <Options o>
static inline float limited(float r) {
  if (o & kFtz) r = flushed(r);
  return o & kSat ? saturated(r) : r;
}
template <Options o>
static inline float out(float r) {
  return limited<o>(canonical(r));
}

template <Options o>
struct Add32 {
  static float eval(float a, float b) { return out<o>(in<o>(a) + in<o>(b)); }
};
template <Options o>
struct Sub32 {
  static float eval(float a, float b) { return out<o>(in<o>(a) - in<o>(b)); }
};
template <Options o>
struct Mul32 {
  static float eval(float a, float b) { return out<o>(in<o>(a) * in<o>(b)); }
};
template <Options o>
struct Fma32 {
  static float eval(float a, float b, float c) {
    return out<o>(__builtin_fmaf(in<o>(a), in<o>(b), in<o>(c)));
  }
};
template <Options o>
struct Div32 {
  static float eval(float a, float b) { return out<o>(in<o>(a) / in<o>(b)); }
};
template <Options o>
struct Rcp32 {
  static float eval(float a) { return out<o>(1.0f / in<o>(a)); }
};
template <Options o>
struct Sqrt32 {
  static float eval(float a) { return out<o>(__builtin_sqrtf(in<o>(a))); }
};

template <Options o>
struct Add64 {
  static double eval(double a, double b) { return settle(a + b, a, b); }
};
template <Options o>
struct Sub64 {
  static double eval(double a, double b) { return settle(a - b, a, b); }
};
template <Options o>
struct Mul64 {
  static double eval(double a, double b) { return settle(a * b, a, b); }
};
template <Options o>
struct Fma64 {
  static double eval(double a, double b, double c) {
    return settle(__builtin_fma(a, b, c), a, b, c);
  }
};
template <Options o>
struct Div64 {
  static double eval(double a, double b) { return settle(a / b, a, b); }
};
template <Options o>
struct Rcp64 {
  static double eval(double a) { return settle(1.0 / a, a); }
};
template <Options o>
struct Sqrt64 {
  static double eval(double a) { return settle(__builtin_sqrt(a), a); }
};

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
