// Lifts a pure function of scalars to the 32 lanes of a warp. float f(float, float) becomes an
// operation with one 32-bit destination and two 32-bit sources; bool stands for a predicate.
// Inactive lanes keep the old value of the destination.
#pragma once

#include <immintrin.h>

#include <utility>

#include "vgpu/program/integers.h"
#include "vgpu/program/operation.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

// Marks FP16 operands in signatures. The value is the 16 bits of the number.
struct f16 {
  u16 bits;
};

template <class T>
constexpr Scalar scalar_of() {
  if constexpr (__is_same(T, bool)) return Scalar::kPredicate;
  if constexpr (__is_same(T, f16)) return Scalar::kF16;
  if constexpr (__is_same(T, float)) return Scalar::kF32;
  if constexpr (__is_same(T, double)) return Scalar::kF64;
  if constexpr (sizeof(T) == 16) return Scalar::k128;
  return sizeof(T) == 8 ? Scalar::k64 : sizeof(T) == 4 ? Scalar::k32 : Scalar::k16;
}

template <class T>
inline T* lanes_of(const Lanes& lanes, u32 offset) {
  return static_cast<T*>(__builtin_assume_aligned(lanes.registers + offset, 64));
}

inline u32& predicate_of(const Lanes& lanes, u32 offset) {
  return *reinterpret_cast<u32*>(lanes.registers + offset);
}

// The source of a lane is its element of a register, or its bit of a predicate's mask.
template <class T>
struct Source {
  const T* values;
  Source(const Lanes& lanes, u32 offset) : values(lanes_of<T>(lanes, offset)) {}
  T operator[](int lane) const { return values[lane]; }
};
template <>
struct Source<bool> {
  u32 bits;
  Source(const Lanes& lanes, u32 offset) : bits(predicate_of(lanes, offset)) {}
  bool operator[](int lane) const { return (bits >> lane & 1) != 0; }
};

// Copies `from` to `to` in the lanes of the mask.
template <class T>
inline void blend(T* to, const T* from, u32 mask) {
  for (int l = 0; l < kLanes; ++l) to[l] = mask >> l & 1 ? from[l] : to[l];
}

// Packs one byte per lane (0 or 1) into one bit per lane.
inline u32 pack_bits(const u8* flags) {
  const __m256i bytes = _mm256_load_si256(reinterpret_cast<const __m256i*>(flags));
  return static_cast<u32>(_mm256_movemask_epi8(_mm256_slli_epi16(bytes, 7)));
}

inline void write_predicate(Lanes& lanes, u32 offset, u32 bits) {
  u32& p = predicate_of(lanes, offset);
  p = (p & ~lanes.mask) | (bits & lanes.mask);
}

// Computes f(lane) for all lanes and writes the results to the active lanes of the destination.
// `offset` is that of the destination.
template <class R, class F>
inline void write_lanes(Lanes& lanes, u32 offset, F f) {
  if constexpr (__is_same(R, bool)) {
    alignas(64) u8 flags[kLanes];
#pragma GCC ivdep
    for (int l = 0; l < kLanes; ++l) flags[l] = f(l);
    write_predicate(lanes, offset, pack_bits(flags));
  } else {
    R* to = lanes_of<R>(lanes, offset);
    if (lanes.mask == kAllLanes) {
      // WHY ivdep: a destination is either the same slot as a source or shares no byte with it.
#pragma GCC ivdep
      for (int l = 0; l < kLanes; ++l) to[l] = f(l);
    } else {
      alignas(64) R values[kLanes];
#pragma GCC ivdep
      for (int l = 0; l < kLanes; ++l) values[l] = f(l);
      blend(to, values, lanes.mask);
    }
  }
}

template <auto f, class Type = decltype(f)>
struct Lifted;

template <auto f, class R, class... A>
struct Lifted<f, R (*)(A...)> {
  static constexpr Signature kSignature = {
      1, 1 + sizeof...(A), {scalar_of<R>(), scalar_of<A>()...}};

  static void apply(Lanes& lanes, u32 to, Source<A>... sources) {
    write_lanes<R>(lanes, to, [=](int lane) { return f(sources[lane]...); });
  }
  template <int... i>
  static void run_one(const Op& op, Lanes& lanes, std::integer_sequence<int, i...>) {
    apply(lanes, op.operand[0], Source<A>(lanes, op.operand[i + 1])...);
  }
  static void run(const Op* first, const Op* last, Lanes& lanes) {
    for (; first != last; ++first) {
      run_one(*first, lanes, std::make_integer_sequence<int, sizeof...(A)>());
    }
  }
};

// The row of a table for the lifted function.
template <auto f>
constexpr Operation row(const char* name, Options options = kDefault) {
  return {name, options, Lifted<f>::run, Lifted<f>::kSignature};
}

// A part of a table. Parts are joined with +.
template <int n>
struct Rows {
  Operation rows[n];
};

template <int n, int m>
constexpr Rows<n + m> operator+(const Rows<n>& a, const Rows<m>& b) {
  Rows<n + m> sum = {};
  for (int i = 0; i < n; ++i) sum.rows[i] = a.rows[i];
  for (int i = 0; i < m; ++i) sum.rows[n + i] = b.rows[i];
  return sum;
}

template <int n>
constexpr OperationTable table(const Rows<n>& piece) {
  return {piece.rows, n};
}

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
