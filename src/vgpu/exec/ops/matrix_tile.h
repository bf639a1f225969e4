// D = A B + C of one tile of eight columns: floating types narrower than double, doubles, integers
// and bits. A has up to two strips of eight rows.
#pragma once

#include "vgpu/exec/ops/float.h"
#include "vgpu/exec/ops/matrix_strips.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

// The registers of an accumulator tile, of any type; C and D may be the same.
struct TileRegisters {
  u32* at[4] = {};
};

// ---- floating types narrower than double --------------------------------------------------------

// The sums of one half and one p, in the order of the model.
inline void add_groups(const MatrixForm& form, const SumModel& model, const Factors& a,
                       const Factors& b, Sums& sums) {
  const int depth = depth_of(form);
  const int group = model.by_halves ? depth / 2 : model.group;
  const bool single = form.d == Accumulator::kF32;
  alignas(64) float c[kLanes];
  if (model.by_halves) {
    for (int l = 0; l < kLanes; ++l) c[l] = sums.start[l], sums.start[l] = 0;
  }
  const int lowest =
      type_of_c(form) == Accumulator::kF32 ? kLowestExponent : lowest_exponent(Element::kF16);
  for (int first = 0; first < depth; first += group) {
    const int last = first + group < depth ? first + group : depth;
    add_products(a, b, first, last, model.fraction, lowest, sums);
    if (last == depth && !model.by_halves) return;
    if (single) {
      round_to_single(sums.sum, model.kept, sums.start);
    } else {
      alignas(64) u16 halves[kLanes];
      round_to_half(sums.sum, halves);
      for (int l = 0; l < kLanes; l += 8) widen_halves(halves + l, sums.start + l);
    }
  }
  for (int l = 0; l < kLanes; ++l) {
    sums.sum[l] = single ? double(sums.start[l] + c[l]) : double(sums.start[l]) + double(c[l]);
  }
}

inline void multiply_floats(const MatrixForm& form, const Factors (&a)[2], const Factors (&b)[2],
                            const TileRegisters* c, const TileRegisters& d) {
  const SumModel model = sum_model(form);
  const bool single = form.d == Accumulator::kF32;
  for (int h = 0; h < form.halves(); ++h) {
    alignas(64) u16 halves[2][kLanes];
    for (int p = 0; p < 2; ++p) {
      Sums sums;
      if (c) {
        const bool single_c = type_of_c(form) == Accumulator::kF32;
        read_accumulator(type_of_c(form), c->at[single_c ? 2 * h + p : h], p, sums.start);
      } else {
        for (float& start : sums.start) start = 0;
      }
      add_groups(form, model, a[h], b[p], sums);
      if (single) {
        round_to_single(sums.sum, model.kept, reinterpret_cast<float*>(d.at[2 * h + p]));
      } else {
        round_to_half(sums.sum, halves[p]);
      }
    }
    if (single) continue;
    for (int l = 0; l < kLanes; ++l) d.at[h][l] = u32(halves[0][l]) | u32(halves[1][l]) << 16;
  }
}

// ---- doubles ------------------------------------------------------------------------------------

struct alignas(64) DoubleStrip {
  double value[16][8];
};

// d = a * b + c, k ascending, one rounding a step.
inline void multiply_doubles(const MatrixForm& form, const DoubleStrip (&a)[2],
                             const DoubleStrip& b, double* const* d) {
  for (int h = 0; h < form.halves(); ++h) {
    for (int p = 0; p < 2; ++p) {
      double* sum = d[2 * h + p];
      for (int k = 0; k < depth_of(form); ++k) {
        for (int l = 0; l < kLanes; ++l) {
          sum[l] = Fma64<kDefault>::eval(a[h].value[k][l / 4], b.value[k][2 * (l % 4) + p], sum[l]);
        }
      }
    }
  }
}

// ---- integers and bits --------------------------------------------------------------------------

constexpr int kMaxIntegerDepth = 64;  // words, of bits

struct alignas(64) IntegerStrip {
  s32 value[kMaxIntegerDepth][8];
};

inline int integer_at(Element element, const u32* lanes, int lane, int j) {
  const u32 word = lanes[lane];
  switch (element) {
    case Element::kS8:
      return s8(word >> 8 * j);
    case Element::kU8:
      return u8(word >> 8 * j);
    case Element::kS4:
      return s32(word << (28 - 4 * j)) >> 28;
    case Element::kU4:
      return s32(word >> 4 * j & 15);
    default:
      return s32(word);  // 32 bits
  }
}

// How many numbers a strip has along k.
inline int integer_depth(const MatrixForm& form) {
  return form.a == Element::kB1 ? 4 * form.k_groups : depth_of(form);
}

inline void unpack_integers(Element element, const u32* const* registers, int step, int groups,
                            IntegerStrip& to) {
  const int per = element == Element::kB1 ? 1 : elements_in(element);
  for (int q = 0; q < groups; ++q) {
    for (int l = 0; l < kLanes; ++l) {
      for (int j = 0; j < per; ++j) {
        to.value[(q * 4 + l % 4) * per + j][l / 4] = integer_at(element, registers[q * step], l, j);
      }
    }
  }
}

inline s32 saturated_sum(s64 sum) {
  return sum > 0x7fffffff ? 0x7fffffff : sum < -0x7fffffffll - 1 ? s32(0x80000000u) : s32(sum);
}

// Sums of products are below 2^31 without C.
inline void multiply_integers(const MatrixForm& form, const IntegerStrip (&a)[2],
                              const IntegerStrip& b, const TileRegisters* c,
                              const TileRegisters& d) {
  const int depth = integer_depth(form);
  for (int h = 0; h < form.halves(); ++h) {
    for (int p = 0; p < 2; ++p) {
      alignas(64) s32 sum[kLanes] = {};
      for (int k = 0; k < depth; ++k) {
        for (int l = 0; l < kLanes; ++l) {
          const s32 x = a[h].value[k][l / 4], y = b.value[k][2 * (l % 4) + p];
          if (form.a == Element::kB1) {
            sum[l] += __builtin_popcount(u32(form.options & kAndPopc ? x & y : x ^ y));
          } else {
            sum[l] += x * y;
          }
        }
      }
      const s32* start = c ? reinterpret_cast<const s32*>(c->at[2 * h + p]) : nullptr;
      s32* to = reinterpret_cast<s32*>(d.at[2 * h + p]);
      for (int l = 0; l < kLanes; ++l) {
        const s64 exact = s64(sum[l]) + (start ? start[l] : 0);
        to[l] = form.options & kSaturate ? saturated_sum(exact) : s32(u32(u64(exact)));
      }
    }
  }
}

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
