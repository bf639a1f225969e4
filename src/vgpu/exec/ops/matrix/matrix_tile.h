// D = A B + C for one tile of eight columns: floating types narrower than double, doubles, integers
// and bits. A has one or two panels of eight rows.
#pragma once

#include "vgpu/exec/ops/float.h"
#include "vgpu/exec/ops/matrix/matrix_panels.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

// The registers of an accumulator tile of any type. C and D may be the same registers.
struct TileRegisters {
  u32* at[4] = {};
};

// ---- floating types narrower than double --------------------------------------------------------

// Computes the sums of one half of the rows and of even or odd columns, in the model's order.
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

// The fast path of the most common instructions. Returns false if it cannot be taken.
inline bool add_single(const MatrixForm& form, const SumModel& model, const Factors& a,
                       const Factors& b, const float* start, u32* to) {
  const int depth = depth_of(form);
  if (model.by_halves || depth > model.group || !a.tame || !b.tame) return false;
  const bool half_c = type_of_c(form) == Accumulator::kF16;
  const int lowest = half_c ? lowest_exponent(Element::kF16) : kLowestExponent;
  alignas(64) s16 exponent[kLanes];
  return tame_exponents(start, lowest, exponent) &&
         add_tame_single(a, b, depth, model, exponent, start, reinterpret_cast<float*>(to));
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
      if (single && add_single(form, model, a[h], b[p], sums.start, d.at[2 * h + p])) continue;
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

constexpr int kMaxDoubleDepth = 16;

// The factors of the 32 lanes, like Factors.
struct alignas(64) DoubleFactors {
  double value[kMaxDoubleDepth][kLanes];
};

// Register q of A: lane 4 row + t holds k = 4 q + t.
inline void spread_rows(const double* lanes, int q, DoubleFactors& to) {
  for (int t = 0; t < 4; ++t) {
    for (int row = 0; row < 8; ++row) {
      for (int j = 0; j < 4; ++j) to.value[4 * q + t][4 * row + j] = lanes[4 * row + t];
    }
  }
}
// Register q of B: lane 4 column + t. to[0] gets the even columns, to[1] the odd ones.
inline void spread_columns(const double* lanes, int q, DoubleFactors (&to)[2]) {
  for (int p = 0; p < 2; ++p) {
    for (int t = 0; t < 4; ++t) {
      double columns[4];
      for (int j = 0; j < 4; ++j) columns[j] = lanes[4 * (2 * j + p) + t];
      for (int row = 0; row < 8; ++row) {
        __builtin_memcpy(to[p].value[4 * q + t] + 4 * row, columns, sizeof columns);
      }
    }
  }
}

// Sets sum to x * y + sum, rounded once. Only NaNs, which are rare, need the slow loop.
inline void add_product(const double* x, const double* y, double* sum) {
  alignas(64) double next[kLanes];
  s64 nans = 0;
  for (int l = 0; l < kLanes; ++l) {
    next[l] = __builtin_fma(x[l], y[l], sum[l]);
    nans |= s64(next[l] != next[l]);
  }
  for (int l = 0; l < kLanes && nans != 0; ++l) {
    next[l] = Fma64<kDefault>::eval(x[l], y[l], sum[l]);
  }
  __builtin_memcpy(sum, next, sizeof next);
}

// Sets d to d + a * b, with k ascending.
inline void multiply_doubles(const MatrixForm& form, const DoubleFactors (&a)[2],
                             const DoubleFactors (&b)[2], double* const* d) {
  for (int h = 0; h < form.halves(); ++h) {
    for (int p = 0; p < 2; ++p) {
      for (int k = 0; k < depth_of(form); ++k) {
        add_product(a[h].value[k], b[p].value[k], d[2 * h + p]);
      }
    }
  }
}

// ---- integers and bits --------------------------------------------------------------------------

inline s32 saturated_sum(s64 sum) {
  return sum > 0x7fffffff ? 0x7fffffff : sum < -0x7fffffffll - 1 ? s32(0x80000000u) : s32(sum);
}

// Sets d to c + sum, for one half of the rows and for even or odd columns.
inline void finish_integers(const MatrixForm& form, const s32* sum, const u32* c, u32* d) {
  for (int l = 0; l < kLanes; ++l) {
    const s64 exact = s64(sum[l]) + (c ? s32(c[l]) : 0);
    d[l] = form.options & kSaturate ? u32(saturated_sum(exact)) : u32(u64(exact));
  }
}

// The products of a tile and their sum are less than 2^24, so FP32 is exact.
inline void multiply_integers(const MatrixForm& form, const Factors (&a)[2], const Factors (&b)[2],
                              const TileRegisters* c, const TileRegisters& d) {
  for (int h = 0; h < form.halves(); ++h) {
    for (int p = 0; p < 2; ++p) {
      alignas(64) s32 sum[kLanes];
      for (int at = 0; at < kLanes; at += kWide) {
        Floats part = {};
        for (int k = 0; k < depth_of(form); ++k) {
          part += load_vector<Floats>(a[h].value[k] + at) * load_vector<Floats>(b[p].value[k] + at);
        }
        store_vector(sum + at, __builtin_convertvector(part, Ints));
      }
      finish_integers(form, sum, c ? c->at[2 * h + p] : nullptr, d.at[2 * h + p]);
    }
  }
}

// Eight rows of bits, in words of 32 bits.
struct BitPanel {
  u32 value[8][8];  // (word, row)
};

inline void multiply_bits(const MatrixForm& form, const BitPanel (&a)[2], const BitPanel& b,
                          const TileRegisters* c, const TileRegisters& d) {
  for (int h = 0; h < form.halves(); ++h) {
    for (int p = 0; p < 2; ++p) {
      alignas(64) s32 sum[kLanes] = {};
      for (int word = 0; word < 4 * form.k_groups; ++word) {
        for (int l = 0; l < kLanes; ++l) {
          const u32 x = a[h].value[word][l / 4], y = b.value[word][2 * (l % 4) + p];
          sum[l] += __builtin_popcount(form.options & kAndPopc ? x & y : x ^ y);
        }
      }
      finish_integers(form, sum, c ? c->at[2 * h + p] : nullptr, d.at[2 * h + p]);
    }
  }
}

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
