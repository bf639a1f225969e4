// The bit manipulation instructions of PTX as pure functions.
#pragma once

#include "vgpu/exec/ops/integer.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

template <class T>
inline T bit_and(T a, T b) {
  return T(a & b);
}
template <class T>
inline T bit_or(T a, T b) {
  return T(a | b);
}
template <class T>
inline T bit_xor(T a, T b) {
  return T(a ^ b);
}
template <class T>
inline T bit_not(T a) {
  return T(~a);
}
inline bool pred_and(bool a, bool b) { return a & b; }
inline bool pred_or(bool a, bool b) { return a | b; }
inline bool pred_xor(bool a, bool b) { return a != b; }
inline bool pred_not(bool a) { return !a; }
template <class T>
inline T cnot(T a) {
  return a == 0;
}

// A shift amount has 32 bits and is clamped to the width of the type.
template <class T>
inline T shl(T a, u32 by) {
  return by >= u32(kBits<T>) ? T(0) : T(a << by);
}
template <class T>
inline T shr(T a, u32 by) {
  if constexpr (kIsSigned<T>) return T(a >> (by >= u32(kBits<T>) ? kBits<T> - 1 : by));
  return by >= u32(kBits<T>) ? T(0) : T(a >> by);
}

// Funnel shifts of the 64-bit value {b, a}: shf_l returns the upper word, shf_r the lower one.
inline u32 shf_l(u32 a, u32 b, u32 by) { return u32((u64(b) << 32 | a) << by >> 32); }
inline u32 shf_r(u32 a, u32 b, u32 by) { return u32((u64(b) << 32 | a) >> by); }
inline u32 shf_l_clamp(u32 a, u32 b, u32 by) { return shf_l(a, b, by > 32 ? 32 : by); }
inline u32 shf_r_clamp(u32 a, u32 b, u32 by) { return shf_r(a, b, by > 32 ? 32 : by); }
inline u32 shf_l_wrap(u32 a, u32 b, u32 by) { return shf_l(a, b, by & 31); }
inline u32 shf_r_wrap(u32 a, u32 b, u32 by) { return shf_r(a, b, by & 31); }

inline u32 popc32(u32 a) { return u32(__builtin_popcount(a)); }
inline u32 popc64(u64 a) { return u32(__builtin_popcountll(a)); }
inline u32 clz32(u32 a) { return a == 0 ? 32 : u32(__builtin_clz(a)); }
inline u32 clz64(u64 a) { return a == 0 ? 64 : u32(__builtin_clzll(a)); }

inline u32 brev32(u32 a) {
  a = (a & 0x55555555u) << 1 | (a >> 1 & 0x55555555u);
  a = (a & 0x33333333u) << 2 | (a >> 2 & 0x33333333u);
  a = (a & 0x0f0f0f0fu) << 4 | (a >> 4 & 0x0f0f0f0fu);
  return __builtin_bswap32(a);
}
inline u64 brev64(u64 a) { return u64(brev32(u32(a))) << 32 | brev32(u32(a >> 32)); }

// Returns the position of the highest bit that differs from the sign; all ones if there is none.
template <class T>
inline u32 bfind(T a) {
  const u64 x = kIsSigned<T> && a < 0 ? ~u64(a) : u64(a);
  return x == 0 ? 0xffffffffu : 63 - u32(__builtin_clzll(x));
}
// Returns the shift that moves the bit found by bfind to the top.
template <class T>
inline u32 bfind_shift(T a) {
  const u32 place = bfind(a);
  return place == 0xffffffffu ? place : kBits<T> - 1 - place;
}

// The n-th set bit from `base` upward (n > 0) or downward (n < 0); all ones if there is none.
inline u32 fns(u32 mask, u32 base, s32 n) {
  if (n == 0) return base < 32 && mask >> base & 1 ? base : 0xffffffffu;
  const int step = n > 0 ? 1 : -1;
  s32 left = n > 0 ? n : -n;
  for (s64 at = base; at >= 0 && at < 32; at += step) {
    if (mask >> at & 1 && --left == 0) return u32(at);
  }
  return 0xffffffffu;
}

template <class T>
inline T bfe(T a, u32 start, u32 length) {
  start &= 255;
  length &= 255;
  const int top = kBits<T> - 1;
  if (length == 0) return 0;
  const u32 last = start + length - 1 > u32(top) ? u32(top) : start + length - 1;
  const u64 sign = kIsSigned<T> ? u64(a) >> last & 1 : 0;
  u64 field = start > u32(top) ? 0 : (u64(a) & (~u64(0) >> (63 - top))) >> start;
  const u64 kept = start > last ? 0 : last - start + 1;
  const u64 low = kept >= 64 ? ~u64(0) : (u64(1) << kept) - 1;
  field = (field & low) | (sign ? ~low : 0);
  const u64 wanted = length >= 64 ? ~u64(0) : (u64(1) << length) - 1;
  return kIsSigned<T> ? T(field) : T(field & wanted);
}

// Returns b with the low `length` bits of a inserted at `start`.
template <class T>
inline T bfi(T a, T b, u32 start, u32 length) {
  start &= 255;
  length &= 255;
  if (start >= u32(kBits<T>) || length == 0) return b;
  const u64 ones = length >= 64 ? ~u64(0) : (u64(1) << length) - 1;
  const u64 field = ones << start;
  return T((u64(b) & ~field) | (u64(a) << start & field));
}

inline u32 bmsk_clamp(u32 start, u32 length) {
  if (start >= 32) return 0;
  const u64 ones = length >= 32 ? 0xffffffffu : (u64(1) << length) - 1;
  return u32(ones << start);
}
inline u32 bmsk_wrap(u32 start, u32 length) { return bmsk_clamp(start & 31, length & 31); }

template <class T>
inline T szext_clamp(T a, u32 bits) {
  if (bits == 0) return 0;
  if (bits >= 32) return a;
  return T(a << (32 - bits)) >> (32 - bits);
}
template <class T>
inline T szext_wrap(T a, u32 bits) {
  return szext_clamp(a, bits & 31);
}

// Each nibble selects a byte of {b, a} or, if its bit 3 is set, copies of the byte's sign bit.
inline u32 prmt(u32 a, u32 b, u32 selector) {
  const u64 bytes = u64(b) << 32 | a;
  u32 d = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 nibble = selector >> (4 * i) & 15;
    const u8 byte = u8(bytes >> (8 * (nibble & 7)));
    const u8 sign = byte & 0x80 ? 0xff : 0x00;
    d |= u32(nibble & 8 ? sign : byte) << (8 * i);
  }
  return d;
}

// The modes of prmt, each as a selector of four nibbles. Only the low two bits of c are used.
inline u32 prmt_f4e(u32 a, u32 b, u32 c) { return prmt(a, b, 0x3210u + 0x1111u * (c & 3)); }
inline u32 prmt_b4e(u32 a, u32 b, u32 c) {
  const u32 selectors[4] = {0x5670u, 0x6701u, 0x7012u, 0x0123u};
  return prmt(a, b, selectors[c & 3]);
}
inline u32 prmt_rc8(u32 a, u32 b, u32 c) { return prmt(a, b, 0x1111u * (c & 3)); }
inline u32 prmt_ecl(u32 a, u32 b, u32 c) {
  const u32 selectors[4] = {0x3210u, 0x3211u, 0x3222u, 0x3333u};
  return prmt(a, b, selectors[c & 3]);
}
inline u32 prmt_ecr(u32 a, u32 b, u32 c) {
  const u32 selectors[4] = {0x0000u, 0x1110u, 0x2210u, 0x3210u};
  return prmt(a, b, selectors[c & 3]);
}
inline u32 prmt_rc16(u32 a, u32 b, u32 c) { return prmt(a, b, c & 1 ? 0x3232u : 0x1010u); }

// Bit i of the result is the bit of `truth` with the index 4 a_i + 2 b_i + c_i.
inline u32 lop3(u32 a, u32 b, u32 c, u32 truth) {
  u32 d = 0;
  for (u32 i = 0; i < 8; ++i) {
    const u32 hit = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    d |= truth >> i & 1 ? hit : 0;
  }
  return d;
}

// dp4a adds four products of bytes to c; dp2a adds two products of a 16-bit number and a byte.
template <class A, class B, class C>
inline C dp4a(u32 a, u32 b, C c) {
  for (int i = 0; i < 4; ++i) c = C(u32(c) + u32(s32(A(a >> 8 * i)) * s32(B(b >> 8 * i))));
  return c;
}
template <class A, class B, class C, int half>
inline C dp2a(u32 a, u32 b, C c) {
  for (int i = 0; i < 2; ++i) {
    c = C(u32(c) + u32(s32(A(a >> 16 * i)) * s32(B(b >> (16 * half + 8 * i)))));
  }
  return c;
}

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
