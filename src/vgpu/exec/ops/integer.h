// Integer arithmetic of PTX as pure functions. If PTX leaves a result undefined (division by zero),
// the function returns what hardware returns.
#pragma once

#include "vgpu/exec/ops/lift.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

template <class T>
struct WideOf;
template <>
struct WideOf<s16> {
  using type = s32;
};
template <>
struct WideOf<u16> {
  using type = u32;
};
template <>
struct WideOf<s32> {
  using type = s64;
};
template <>
struct WideOf<u32> {
  using type = u64;
};
template <>
struct WideOf<s64> {
  __extension__ using type = __int128;
};
template <>
struct WideOf<u64> {
  __extension__ using type = unsigned __int128;
};
template <class T>
using Wide = typename WideOf<T>::type;

template <class T>
constexpr int kBits = 8 * sizeof(T);
template <class T>
constexpr bool kIsSigned = T(-1) < T(0);
template <class T>
constexpr T kMax = kIsSigned<T> ? T(((T(1) << (kBits<T> - 2)) - 1) * 2 + 1) : T(-1);
template <class T>
constexpr T kMin = T(~kMax<T>);

// Sums and products wrap. They are computed in unsigned 64 bits, where overflow is well defined.
template <class T>
inline T add(T a, T b) {
  return T(u64(a) + u64(b));
}
template <class T>
inline T sub(T a, T b) {
  return T(u64(a) - u64(b));
}
template <class T>
inline T mul_lo(T a, T b) {
  return T(u64(a) * u64(b));
}
template <class T>
inline T mul_hi(T a, T b) {
  return T(Wide<T>(a) * Wide<T>(b) >> kBits<T>);
}
template <class T>
inline Wide<T> mul_wide(T a, T b) {
  return Wide<T>(a) * Wide<T>(b);
}
template <class T>
inline T mad_lo(T a, T b, T c) {
  return T(u64(a) * u64(b) + u64(c));
}
template <class T>
inline T mad_hi(T a, T b, T c) {
  return add(mul_hi(a, b), c);
}
template <class T>
inline Wide<T> mad_wide(T a, T b, Wide<T> c) {
  return Wide<T>(u64(mul_wide(a, b)) + u64(c));
}
template <class T>
inline T mad_hi_sat(T a, T b, T c) {
  const Wide<T> sum = Wide<T>(mul_hi(a, b)) + c;
  return sum > kMax<T> ? kMax<T> : sum < kMin<T> ? kMin<T> : T(sum);
}

// The 24-bit multiplications return bits 0-31 or 16-47 of the 48-bit product.
template <class T>
inline s64 product_24(T a, T b) {
  if constexpr (kIsSigned<T>) return (s64(a) << 40 >> 40) * (s64(b) << 40 >> 40);
  return s64(u64(a & 0xffffff) * u64(b & 0xffffff));
}
template <class T>
inline T mul24_lo(T a, T b) {
  return T(product_24(a, b));
}
template <class T>
inline T mul24_hi(T a, T b) {
  return T(product_24(a, b) >> 16);
}
template <class T>
inline T mad24_lo(T a, T b, T c) {
  return add(mul24_lo(a, b), c);
}
template <class T>
inline T mad24_hi(T a, T b, T c) {
  return add(mul24_hi(a, b), c);
}

template <class T>
inline T sat_to(s64 x) {
  return x > kMax<T> ? kMax<T> : x < kMin<T> ? kMin<T> : T(x);
}
inline s32 add_sat(s32 a, s32 b) { return sat_to<s32>(s64(a) + b); }
inline s32 sub_sat(s32 a, s32 b) { return sat_to<s32>(s64(a) - b); }
inline s32 mad_hi_sat32(s32 a, s32 b, s32 c) { return sat_to<s32>(s64(mul_hi(a, b)) + c); }

// HW: a quotient by zero is all ones, and the remainder is the dividend.
template <class T>
inline T div(T a, T b) {
  if (b == 0) return T(-1);
  if (kIsSigned<T> && b == T(-1)) return sub(T(0), a);
  return T(a / b);
}
template <class T>
inline T rem(T a, T b) {
  if (b == 0) return a;
  if (kIsSigned<T> && b == T(-1)) return 0;
  return T(a % b);
}

template <class T>
inline T min(T a, T b) {
  return a < b ? a : b;
}
template <class T>
inline T max(T a, T b) {
  return a > b ? a : b;
}
template <class T>
inline T neg(T a) {
  return sub(T(0), a);
}
template <class T>
inline T abs(T a) {
  return a < 0 ? neg(a) : a;
}
template <class T>
inline T sad(T a, T b, T c) {
  return add(c, a < b ? sub(b, a) : sub(a, b));
}

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
