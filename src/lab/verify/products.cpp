#include "lab/verify/products.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "lab/data/parallel.h"

namespace tessera::lab {
namespace {

constexpr int kLanes = 4;  // doubles in a vector
constexpr int kPanel = 8;  // columns of b that one tile of results spans
constexpr int kVectors = kPanel / kLanes;

// Four sums in FP64.
struct Single {
  __m256d sum = _mm256_setzero_pd();
  void add(__m256d a, __m256d b) { sum = _mm256_fmadd_pd(a, b, sum); }
};

// Four sums in double-double: the rounding errors of product and sum are collected in `low`.
struct Double {
  __m256d high = _mm256_setzero_pd(), low = _mm256_setzero_pd();
  void add(__m256d a, __m256d b) {
    const __m256d product = _mm256_mul_pd(a, b);
    const __m256d product_error = _mm256_fmsub_pd(a, b, product);
    const __m256d sum = _mm256_add_pd(high, product);
    const __m256d added = _mm256_sub_pd(sum, high);
    const __m256d sum_error = _mm256_add_pd(_mm256_sub_pd(high, _mm256_sub_pd(sum, added)),
                                            _mm256_sub_pd(product, added));
    high = sum;
    low = _mm256_add_pd(low, _mm256_add_pd(product_error, sum_error));
  }
};

// Returns b as panels of kPanel columns, each contiguous (k, kPanel); the last one is padded with
// zeros.
std::vector<double> pack_panels(const Extents& size, const double* b) {
  const std::int64_t panels = (size.n + kPanel - 1) / kPanel;
  std::vector<double> packed(panels * size.k * kPanel);
  parallel_for(panels, std::max<std::int64_t>(1, 65536 / (size.k * kPanel + 1)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t panel = begin; panel < end; ++panel) {
                   const std::int64_t col = panel * kPanel;
                   const std::int64_t width = std::min<std::int64_t>(kPanel, size.n - col);
                   double* out = packed.data() + panel * size.k * kPanel;
                   for (std::int64_t p = 0; p < size.k; ++p, out += kPanel) {
                     std::memcpy(out, b + p * size.n + col, width * sizeof(double));
                   }
                 }
               });
  return packed;
}

// Computes one tile of results: `rows` rows of a times one panel.
template <class Sum, int rows>
void multiply_tile(std::int64_t k, const double* a, const double* panel,
                   Sum (&sums)[rows][kVectors]) {
  for (std::int64_t p = 0; p < k; ++p) {
    __m256d b[kVectors];
    for (int v = 0; v < kVectors; ++v) b[v] = _mm256_loadu_pd(panel + p * kPanel + v * kLanes);
    for (int r = 0; r < rows; ++r) {
      const __m256d value = _mm256_set1_pd(a[r * k + p]);
      for (int v = 0; v < kVectors; ++v) sums[r][v].add(value, b[v]);
    }
  }
}

void store_panel_row(const __m256d (&vectors)[kVectors], double* out, std::int64_t width) {
  double row[kPanel];
  for (int v = 0; v < kVectors; ++v) _mm256_storeu_pd(row + v * kLanes, vectors[v]);
  std::memcpy(out, row, width * sizeof(double));
}

template <class Sum, int rows>
void store_tile(const Sum (&sums)[rows][kVectors], double* high, double* low, std::int64_t n,
                std::int64_t width) {
  for (int r = 0; r < rows; ++r) {
    __m256d first[kVectors], second[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      if constexpr (std::is_same_v<Sum, Double>) {
        first[v] = sums[r][v].high;
        second[v] = sums[r][v].low;
      } else {
        first[v] = sums[r][v].sum;
      }
    }
    store_panel_row(first, high + r * n, width);
    if constexpr (std::is_same_v<Sum, Double>) store_panel_row(second, low + r * n, width);
  }
}

template <class Sum, int rows>
void multiply_rows(const Extents& size, const double* a, const std::vector<double>& packed,
                   std::int64_t row, std::int64_t panel, double* high, double* low) {
  const std::int64_t col = panel * kPanel;
  Sum sums[rows][kVectors];
  multiply_tile<Sum, rows>(size.k, a + row * size.k, packed.data() + panel * size.k * kPanel, sums);
  const std::int64_t at = row * size.n + col;
  store_tile<Sum, rows>(sums, high + at, low ? low + at : nullptr, size.n,
                        std::min<std::int64_t>(kPanel, size.n - col));
}

template <class Sum>
void multiply(const Extents& size, const double* a, const double* b, double* high, double* low) {
  constexpr int rows = std::is_same_v<Sum, Double> ? 2 : 4;
  const std::vector<double> packed = pack_panels(size, b);
  const std::int64_t panels = (size.n + kPanel - 1) / kPanel;
  const std::int64_t tile_rows = (size.m + rows - 1) / rows;
  const auto multiply_range = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t panel = i / tile_rows, row = i % tile_rows * rows;
      if (row + rows <= size.m) {
        multiply_rows<Sum, rows>(size, a, packed, row, panel, high, low);
        continue;
      }
      for (std::int64_t r = row; r < size.m; ++r) {
        multiply_rows<Sum, 1>(size, a, packed, r, panel, high, low);
      }
    }
  };
  parallel_for(panels * tile_rows, std::max<std::int64_t>(1, 100000 / (size.k * kPanel + 1)),
               multiply_range);
}

}  // namespace

void multiply_blocked(const Extents& size, const double* a, const double* b, double* c) {
  multiply<Single>(size, a, b, c, nullptr);
}

void multiply_double_double(const Extents& size, const double* a, const double* b, double* high,
                            double* low) {
  multiply<Double>(size, a, b, high, low);
}

}  // namespace tessera::lab
