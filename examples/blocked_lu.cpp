// LU factorisation with partial pivoting in FP64, by blocks: nearly all of its work is the update
// of the rest of the matrix by one product a step, A22 = A22 - L21 U12, and Tessera does that. The
// blocks are parts of one matrix, so leading dimensions are longer than columns, and nothing is
// copied. Runs on the first GPU where there is one, else on the CPU.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tessera/gemm.hpp"

namespace {

using Matrix = tessera::Matrix<double>;

double& at(const Matrix& m, std::int64_t r, std::int64_t c) {
  return m.data[r * m.row_stride + c * m.col_stride];
}

// Swaps two rows of the whole matrix.
void swap_rows(const Matrix& m, std::int64_t r, std::int64_t s) {
  for (std::int64_t c = 0; c < m.cols; ++c) std::swap(at(m, r, c), at(m, s, c));
}

// Columns [first, last) below the diagonal, with row exchanges in all columns.
void factor_panel(const Matrix& m, std::int64_t first, std::int64_t last,
                  std::vector<std::int64_t>& rows) {
  for (std::int64_t c = first; c < last; ++c) {
    std::int64_t pivot = c;
    for (std::int64_t r = c; r < m.rows; ++r) {
      if (std::abs(at(m, r, c)) > std::abs(at(m, pivot, c))) pivot = r;
    }
    swap_rows(m, c, pivot);
    std::swap(rows[c], rows[pivot]);
    for (std::int64_t r = c + 1; r < m.rows; ++r) {
      at(m, r, c) /= at(m, c, c);
      for (std::int64_t j = c + 1; j < last; ++j) at(m, r, j) -= at(m, r, c) * at(m, c, j);
    }
  }
}

// U12 from A12: the rows of the panel, to its right.
void solve_row_of_blocks(const Matrix& m, std::int64_t first, std::int64_t last) {
  for (std::int64_t c = last; c < m.cols; ++c) {
    for (std::int64_t r = first; r < last; ++r) {
      for (std::int64_t p = first; p < r; ++p) at(m, r, c) -= at(m, r, p) * at(m, p, c);
    }
  }
}

void factor(const tessera::Handle& handle, const Matrix& m, std::int64_t block,
            std::vector<std::int64_t>& rows) {
  for (std::int64_t first = 0; first < m.rows; first += block) {
    const std::int64_t last = std::min(first + block, m.rows), rest = m.rows - last;
    factor_panel(m, first, last, rows);
    if (rest == 0) break;
    solve_row_of_blocks(m, first, last);
    const Matrix l21 = m.block(last, first, rest, last - first);
    const Matrix u12 = m.block(first, last, last - first, rest);
    const Matrix a22 = m.block(last, last, rest, rest);
    handle.gemm(l21, u12, a22, a22, {.alpha = -1, .beta = 1, .memory = TESSERA_HOST_MEMORY});
  }
}

}  // namespace

int main() {
  constexpr std::int64_t n = 300, block = 64;
  std::vector<double> a(n * n), factors;
  for (double& x : a) x = static_cast<double>(std::rand()) / RAND_MAX - 0.5;
  factors = a;
  std::vector<std::int64_t> rows(n);
  for (std::int64_t i = 0; i < n; ++i) rows[i] = i;
  const tessera::Handle handle(TESSERA_ANY_PLACE);
  factor(handle, tessera::column_major(factors.data(), n, n), block, rows);

  double worst = 0;  // of P A - L U
  for (std::int64_t r = 0; r < n; ++r) {
    for (std::int64_t c = 0; c < n; ++c) {
      double sum = 0;
      for (std::int64_t p = 0; p <= std::min(r, c); ++p) {
        sum += (p == r ? 1 : factors[r + p * n]) * factors[p + c * n];
      }
      worst = std::max(worst, std::abs(sum - a[rows[r] + c * n]));
    }
  }
  std::printf("largest difference of P A and L U: %.1e\n", worst);
  return worst < 1e-12 * n ? 0 : 1;
}
