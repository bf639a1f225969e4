// Converts registers to panels: eight rows of A, or eight columns of B, as floats that the host can
// multiply.
#pragma once

#include "vgpu/exec/ops/matrix/matrix_floats.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

// ---- numbers ------------------------------------------------------------------------------------

inline void widen_halves(const u16* from, float* to) {
  _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}

// The bits of E4M3 as those of FP16: the value is 256 times too small, and NaN is not converted.
inline u16 half_of_e4m3(u8 x) { return u16((x & 0x80) << 8 | (x & 0x7f) << 7); }
constexpr float kE4m3Scale = 256.0f;

// Converts eight numbers to FP32, exactly. Bits that TF32 does not have are dropped.
template <Element element, class T>
inline void widen(const T* from, float* to) {
  if constexpr (is_integer(element)) {
    for (int i = 0; i < 8; ++i) to[i] = float(element == Element::kS8 ? s8(from[i]) : from[i]);
  } else if constexpr (element == Element::kF16) {
    widen_halves(from, to);
  } else if constexpr (element == Element::kBf16) {
    for (int i = 0; i < 8; ++i) to[i] = __builtin_bit_cast(float, u32(from[i]) << 16);
  } else if constexpr (element == Element::kTf32) {
    for (int i = 0; i < 8; ++i) to[i] = __builtin_bit_cast(float, from[i] & 0xffffe000u);
  } else {
    u16 halves[8];
    for (int i = 0; i < 8; ++i) {
      halves[i] = element == Element::kE5m2 ? u16(from[i] << 8) : half_of_e4m3(from[i]);
    }
    widen_halves(halves, to);
    if constexpr (element == Element::kE5m2) return;
    for (int i = 0; i < 8; ++i) {
      to[i] = (from[i] & 0x7f) == 0x7f ? __builtin_nanf("") : to[i] * kE4m3Scale;
    }
  }
}

template <Element element>
struct CellOf {
  using Type = u8;
};
template <>
struct CellOf<Element::kF16> {
  using Type = u16;
};
template <>
struct CellOf<Element::kBf16> {
  using Type = u16;
};
template <>
struct CellOf<Element::kTf32> {
  using Type = u32;
};
// The integer type of an element in memory and in registers.
template <Element element>
using Cell = typename CellOf<element>::Type;

// Calls f with the element type as template argument. For types of 8 to 32 bits.
template <class F>
inline void with_element(Element element, F f) {
  switch (element) {
    case Element::kS8:
      return f.template operator()<Element::kS8>();
    case Element::kU8:
      return f.template operator()<Element::kU8>();
    case Element::kF16:
      return f.template operator()<Element::kF16>();
    case Element::kBf16:
      return f.template operator()<Element::kBf16>();
    case Element::kTf32:
      return f.template operator()<Element::kTf32>();
    case Element::kE4m3:
      return f.template operator()<Element::kE4m3>();
    default:
      return f.template operator()<Element::kE5m2>();
  }
}

// ---- registers of a tile ------------------------------------------------------------------------

// Returns k of element j, at lane position t, in register group q. If `by_halves`, ptxas compiles
// the product to two instructions, and the elements of the first one come first.
inline int depth_index(int q, int t, int j, int per_register, int depth, bool by_halves) {
  if (!by_halves) return (q * 4 + t) * per_register + j;
  return (j / 2) * (depth / 2) + (q * 4 + t) * 2 + j % 2;
}

// Unpacks one register of a fragment: lane 4 row + t holds elements (q * 4 + t) * v + j of its row.
template <Element element>
inline void unpack_register(const u32* lanes, int q, int depth, bool by_halves, Panel& to) {
  constexpr int kPer = elements_in(element);
  alignas(64) float values[kLanes * kPer];
  const auto* cells = reinterpret_cast<const Cell<element>*>(lanes);
  for (int i = 0; i < kLanes * kPer; i += 8) widen<element>(cells + i, values + i);
  for (int t = 0; t < 4; ++t) {
    for (int j = 0; j < kPer; ++j) {
      float* row = to.value[depth_index(q, t, j, kPer, depth, by_halves)];
      for (int g = 0; g < 8; ++g) row[g] = values[(4 * g + t) * kPer + j];
    }
  }
}

// Unpacks a register of 4-bit elements.
inline void unpack_nibbles(bool is_signed, const u32* lanes, int q, Panel& to) {
  for (int l = 0; l < kLanes; ++l) {
    for (int j = 0; j < 8; ++j) {
      const s32 nibble = s32(lanes[l] << (28 - 4 * j));
      to.value[(q * 4 + l % 4) * 8 + j][l / 4] =
          float(is_signed ? nibble >> 28 : s32(u32(nibble) >> 28));
    }
  }
}

// Unpacks registers q * step of a fragment; `step` is the number of halves of a tile.
inline void unpack_panel(Element element, const u32* const* registers, int step, int groups,
                         int depth, bool by_halves, Panel& to) {
  if (element == Element::kS4 || element == Element::kU4) {
    for (int q = 0; q < groups; ++q) {
      unpack_nibbles(element == Element::kS4, registers[q * step], q, to);
    }
    return;
  }
  with_element(element, [&]<Element e>() {
    for (int q = 0; q < groups; ++q) {
      unpack_register<e>(registers[q * step], q, depth, by_halves, to);
    }
  });
}

// ---- accumulators -------------------------------------------------------------------------------

// Reads element p (0 or 1) of each lane. For FP32 it is the whole register; for FP16 it is a half
// of the register.
inline void read_accumulator(Accumulator type, const u32* registers, int p, float* to) {
  if (type == Accumulator::kF32) {
    __builtin_memcpy(to, registers, kLanes * sizeof(float));
    return;
  }
  alignas(64) u16 halves[kLanes];
  for (int l = 0; l < kLanes; ++l) halves[l] = u16(registers[l] >> (16 * p));
  for (int l = 0; l < kLanes; l += 8) widen_halves(halves + l, to + l);
}

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
