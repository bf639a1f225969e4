// Sums of products of one tile in the arithmetic of matrix_model.h, 32 lanes at a time.
//
// In nearly all sums, no number is huge, tiny or NaN. Then truncated summands are 32-bit integers,
// and vector instructions add them for many lanes. Other sums are computed lane by lane.
#pragma once

#include <immintrin.h>

#include "vgpu/exec/ops/matrix/matrix_model.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

constexpr int kMaxDepth = 64;

// Eight rows of A, or eight columns of B, in the form that the multiplication needs.
struct alignas(64) Panel {
  float value[kMaxDepth][8];  // (k, row)
};

// The factors of the 32 lanes: for each k, one per lane.
struct alignas(64) Factors {
  float value[kMaxDepth][kLanes];
  s16 exponent[kMaxDepth][kLanes];
  bool tame = false;  // every one is zero or has an exponent of at most kTame
};
constexpr int kTame = 50;

// Vectors as wide as the vector registers of the host.
#ifdef __AVX512F__
constexpr int kVectorBytes = 64;
#else
constexpr int kVectorBytes = 32;
#endif
constexpr int kWide = kVectorBytes / 4;
using Floats = float __attribute__((vector_size(kVectorBytes)));
using Ints = s32 __attribute__((vector_size(kVectorBytes)));
using Words = u32 __attribute__((vector_size(kVectorBytes)));
using Shorts = s16 __attribute__((vector_size(kVectorBytes)));
using HalfShorts = s16 __attribute__((vector_size(kVectorBytes / 2)));
using Doubles = double __attribute__((vector_size(2 * kVectorBytes)));
using Longs = s64 __attribute__((vector_size(2 * kVectorBytes)));

template <class V, class T>
inline V load_vector(const T* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <class V, class T>
inline void store_vector(T* to, const V& v) {
  __builtin_memcpy(to, &v, sizeof v);
}

inline bool has_bits(const Ints& v) {
  __m256i parts[kVectorBytes / 32];
  __builtin_memcpy(parts, &v, sizeof v);
  bool any = false;
  for (const __m256i& part : parts) any |= _mm256_testz_si256(part, part) == 0;
  return any;
}

// ---- fills Factors from Panels: values and exponents by lane -----------------------------------

// WHY intrinsics: compilers find no good code for moving numbers between lanes.

// Returns the exponents of these numbers, at least `lowest`, that of the type. Sets bits of `wild`
// for numbers that are neither zero nor have an exponent within kTame.
inline __m256i find_exponents(__m256 values, int lowest, __m256i& wild) {
  const __m256i field =
      _mm256_and_si256(_mm256_srli_epi32(_mm256_castps_si256(values), 23), _mm256_set1_epi32(0xff));
  const __m256i exponent =
      _mm256_max_epi32(_mm256_sub_epi32(field, _mm256_set1_epi32(127)), _mm256_set1_epi32(lowest));
  const __m256i zero = _mm256_castps_si256(_mm256_cmp_ps(values, _mm256_setzero_ps(), _CMP_EQ_OQ));
  const __m256i beyond = _mm256_cmpgt_epi32(_mm256_abs_epi32(exponent), _mm256_set1_epi32(kTame));
  wild = _mm256_or_si256(wild, _mm256_andnot_si256(zero, beyond));
  return _mm256_blendv_epi8(exponent, _mm256_set1_epi32(kNoExponent), zero);
}

// Narrows eight 32-bit integers to 16 bits.
inline __m128i narrowed(__m256i words) {
  return _mm_packs_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

// Lane l gets row l / 4.
inline void spread_rows(const Panel& panel, int depth, int lowest, Factors& to) {
  const __m256i pairs = _mm256_setr_epi8(0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 2, 3,  //
                                         4, 5, 4, 5, 4, 5, 4, 5, 6, 7, 6, 7, 6, 7, 6, 7);
  __m256i wild = _mm256_setzero_si256();
  for (int k = 0; k < depth; ++k) {
    const __m256 values = _mm256_load_ps(panel.value[k]);
    for (int i = 0; i < 4; ++i) {
      const __m256i rows =
          _mm256_setr_epi32(2 * i, 2 * i, 2 * i, 2 * i, 2 * i + 1, 2 * i + 1, 2 * i + 1, 2 * i + 1);
      _mm256_store_ps(to.value[k] + 8 * i, _mm256_permutevar8x32_ps(values, rows));
    }
    const __m256i exponents =
        _mm256_broadcastsi128_si256(narrowed(find_exponents(values, lowest, wild)));
    const __m256i last = _mm256_bsrli_epi128(exponents, 8);
    auto* cells = reinterpret_cast<__m256i*>(to.exponent[k]);
    _mm256_store_si256(cells, _mm256_shuffle_epi8(exponents, pairs));
    _mm256_store_si256(cells + 1, _mm256_shuffle_epi8(last, pairs));
  }
  to.tame = _mm256_testz_si256(wild, wild) != 0;
}

// Lane l gets column 2 (l % 4) in to[0], and the next column in to[1].
inline void spread_columns(const Panel& panel, int depth, int lowest, Factors (&to)[2]) {
  const __m256i even_first = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
  __m256i wild = _mm256_setzero_si256();
  for (int k = 0; k < depth; ++k) {
    const __m256 values = _mm256_permutevar8x32_ps(_mm256_load_ps(panel.value[k]), even_first);
    const __m128i exponents = narrowed(find_exponents(values, lowest, wild));
    for (int p = 0; p < 2; ++p) {
      const __m128 quad =
          p == 0 ? _mm256_castps256_ps128(values) : _mm256_extractf128_ps(values, 1);
      const __m256 twice = _mm256_set_m128(quad, quad);
      for (int i = 0; i < 4; ++i) _mm256_store_ps(to[p].value[k] + 8 * i, twice);
      const __m256i four =
          _mm256_broadcastq_epi64(p == 0 ? exponents : _mm_unpackhi_epi64(exponents, exponents));
      auto* cells = reinterpret_cast<__m256i*>(to[p].exponent[k]);
      _mm256_store_si256(cells, four);
      _mm256_store_si256(cells + 1, four);
    }
  }
  to[0].tame = to[1].tame = _mm256_testz_si256(wild, wild) != 0;
}

// ---- sums ---------------------------------------------------------------------------------------

// The sums to which the lanes add products. `sum` is exact until it is rounded to its type.
struct alignas(64) Sums {
  float start[kLanes];  // C
  double sum[kLanes];
};

// Whether no number is too huge or too tiny for the fast path. Also returns the exponents.
inline bool tame_exponents(const float* start, int lowest, s16* exponent) {
  s32 wild = 0;
  for (int l = 0; l < kLanes; ++l) {
    const s32 field = s32(__builtin_bit_cast(u32, start[l]) >> 23 & 0xff);
    const s32 found = field - 127 < lowest ? lowest : field - 127;
    const bool zero = start[l] == 0.0f;
    wild |= s32(!zero) & s32((found > 2 * kTame) | (found < -2 * kTame));
    exponent[l] = s16(zero ? -2 * kTame : found);
  }
  return wild == 0;
}

// Raises `exponent`, the exponent of C in each lane, to the largest one of C and the products.
inline void raise_exponents(const Factors& a, const Factors& b, int first, int last,
                            s16* exponent) {
  constexpr int kShorts = kVectorBytes / 2;
  for (int at = 0; at < kLanes; at += kShorts) {
    Shorts largest = load_vector<Shorts>(exponent + at);
    for (int k = first; k < last; ++k) {
      const Shorts sum =
          load_vector<Shorts>(a.exponent[k] + at) + load_vector<Shorts>(b.exponent[k] + at);
      largest = sum > largest ? sum : largest;
    }
    store_vector(exponent + at, largest);
  }
}

// Adds the products [first, last) and C, none of them huge or tiny. A truncated summand is less
// than 2^27, so half of the summands, at most 16, fit into 32 bits.
inline void add_tame(const Factors& a, const Factors& b, int first, int last, int fraction,
                     s16* exponent, Sums& sums) {
  raise_exponents(a, b, first, last, exponent);
  const int middle = (first + last) / 2;
  for (int at = 0; at < kLanes; at += kWide) {
    const Ints largest = __builtin_convertvector(load_vector<HalfShorts>(exponent + at), Ints);
    const Floats scale = Floats((127 + fraction - largest) << 23);
    const Longs back = (__builtin_convertvector(largest, Longs) + (1023 - fraction)) << 52;
    Ints low = __builtin_convertvector(load_vector<Floats>(sums.start + at) * scale, Ints);
    Ints high = {};
    for (int k = first; k < middle; ++k) {
      const Floats product =
          load_vector<Floats>(a.value[k] + at) * load_vector<Floats>(b.value[k] + at);
      low += __builtin_convertvector(product * scale, Ints);
    }
    for (int k = middle; k < last; ++k) {
      const Floats product =
          load_vector<Floats>(a.value[k] + at) * load_vector<Floats>(b.value[k] + at);
      high += __builtin_convertvector(product * scale, Ints);
    }
    const Doubles sum =
        __builtin_convertvector(low, Doubles) + __builtin_convertvector(high, Doubles);
    store_vector(sums.sum + at, sum * Doubles(back));
  }
}

// Like add_tame, with results truncated to FP32. Returns false without a result if a sum needs more
// than 32 bits.
inline bool add_tame_single(const Factors& a, const Factors& b, int count, const SumModel& model,
                            s16* exponent, const float* start, float* to) {
  raise_exponents(a, b, 0, count, exponent);
  alignas(64) float results[kLanes];
  const s32 kept = s32(~0u << (23 - model.kept));
  Ints wide = {};
  for (int at = 0; at < kLanes; at += kWide) {
    const Ints largest = __builtin_convertvector(load_vector<HalfShorts>(exponent + at), Ints);
    const Floats scale = Floats((127 + model.fraction - largest) << 23);
    const Floats back = Floats((127 - model.fraction + largest) << 23);
    Ints low = __builtin_convertvector(load_vector<Floats>(start + at) * scale, Ints);
    Ints high = {};
    for (int k = 0; k < count; k += 2) {
      const Floats even =
          load_vector<Floats>(a.value[k] + at) * load_vector<Floats>(b.value[k] + at);
      const Floats odd =
          load_vector<Floats>(a.value[k + 1] + at) * load_vector<Floats>(b.value[k + 1] + at);
      low += __builtin_convertvector(even * scale, Ints);
      high += __builtin_convertvector(odd * scale, Ints);
    }
    const Ints half = (low >> 1) + (high >> 1);
    wide |= (half > (1 << 30) - 128) | (half < 128 - (1 << 30));
    const Ints sum = Ints(Words(low) + Words(high));
    const Ints size = sum < 0 ? -sum : sum;
    // Converts to the nearest float, and subtracts one unit if that was rounded up.
    const Floats near = __builtin_convertvector(size, Floats);
    const Ints cut = (Ints(near) + (__builtin_convertvector(near, Ints) > size)) & kept;
    const Ints sign = sum & s32(0x80000000u);
    store_vector(results + at, Ints(Floats(cut) * back) | sign);
  }
  if (has_bits(wide)) return false;
  __builtin_memcpy(to, results, sizeof results);
  return true;
}

// Like add_tame for any numbers, in one lane. The result is NaN if an operand is NaN.
inline double add_exactly(const Factors& a, const Factors& b, int first, int last, int fraction,
                          float start, int lowest_of_start, int lane) {
  const u32 start_field = __builtin_bit_cast(u32, start) >> 23 & 0xff;
  int largest = kLowestExponent;
  double check = start;  // NaN or infinite if the sum is
  if (start != 0.0f) {
    const int exponent = int(start_field) - 127;
    largest = exponent < lowest_of_start ? lowest_of_start : exponent;
  }
  for (int k = first; k < last; ++k) {
    check += double(a.value[k][lane]) * double(b.value[k][lane]);
    const int exponent = a.exponent[k][lane] + b.exponent[k][lane];
    largest = largest < exponent ? exponent : largest;
  }
  if (!(check - check == 0)) return check;
  const double scale = __builtin_bit_cast(double, u64(1023 + fraction - largest) << 52);
  const double back = __builtin_bit_cast(double, u64(1023 - fraction + largest) << 52);
  double sum = __builtin_trunc(double(start) * scale);
  for (int k = first; k < last; ++k) {
    sum += __builtin_trunc(double(a.value[k][lane]) * double(b.value[k][lane]) * scale);
  }
  return sum * back + 0.0;  // a sum of zeros is +0
}

// Sets sums.sum to start plus the products [first, last).
inline void add_products(const Factors& a, const Factors& b, int first, int last, int fraction,
                         int lowest_of_start, Sums& sums) {
  alignas(64) s16 exponent[kLanes];
  if (a.tame && b.tame && tame_exponents(sums.start, lowest_of_start, exponent)) {
    return add_tame(a, b, first, last, fraction, exponent, sums);
  }
  for (int l = 0; l < kLanes; ++l) {
    sums.sum[l] = add_exactly(a, b, first, last, fraction, sums.start[l], lowest_of_start, l);
  }
}

// ---- results ------------------------------------------------------------------------------------

// Rounds the sums to FP32, with `kept` fraction bits.
inline void round_to_single(const double* sum, int kept, float* to) {
  alignas(64) float cut[kLanes];
  u64 wild = 0;
  const u64 mask = ~u64(0) << (52 - kept);
  for (int l = 0; l < kLanes; ++l) {
    const u64 bits = __builtin_bit_cast(u64, sum[l]);
    const u64 field = bits >> 52 & 0x7ff;
    wild |= u64((bits << 1 != 0) & (field - (1023 - 126) > 253));
    cut[l] = float(__builtin_bit_cast(double, bits& mask));
  }
  for (int l = 0; l < kLanes; ++l) {
    to[l] = wild != 0 ? rounded_single(sum[l], kept) : cut[l];
  }
}

// Rounds to the nearest FP16 number. A sum that is zero becomes +0.
inline void round_to_half(const double* sum, u16* to) {
  for (int l = 0; l < kLanes; ++l) {
    const u16 half = F16::narrow(sum[l]);
    to[l] = half == F16::kSign ? u16(0) : half;
  }
}

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
