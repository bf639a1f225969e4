#include "lab/verify/exact_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lab/data/integers.h"
#include "lab/data/parallel.h"

namespace tessera::lab {
namespace {

using Words = std::vector<std::uint64_t>;

constexpr int kFewestDigits = 8;
constexpr double kLargestValue = 0x1p62;

// Converts a value times `unit` to an integer modulo 2^64. Returns false if the value is not an
// integer.
bool to_word(double value, double unit, std::uint64_t& word) {
  const double scaled = value * unit;
  if (!(std::abs(scaled) < kLargestValue) || scaled != std::rint(scaled)) return false;
  word = static_cast<std::uint64_t>(static_cast<std::int64_t>(scaled));
  return true;
}

// Returns unit * matrix * x modulo 2^64. Rows that hold anything but integers are marked in
// `broken`.
template <class T>
Words multiply_rows(const HostMatrix& matrix, double unit, const Words& x,
                    std::vector<char>* broken) {
  const MatrixView view = matrix.view();
  const T* elements = matrix.elements<T>();
  Words y(view.rows);
  const auto add = [&](std::int64_t r, std::int64_t c) {
    std::uint64_t word = 0;
    const auto value = static_cast<double>(elements[r * view.row + c * view.col]);
    if (!to_word(value, unit, word) && broken) (*broken)[r] = 1;
    y[r] += word * x[c];
  };
  const auto add_rows = [&](std::int64_t begin, std::int64_t end) {
    if (runs_of(view).rows_adjacent) {
      for (std::int64_t c = 0; c < view.cols; ++c) {
        for (std::int64_t r = begin; r < end; ++r) add(r, c);
      }
      return;
    }
    for (std::int64_t r = begin; r < end; ++r) {
      for (std::int64_t c = 0; c < view.cols; ++c) add(r, c);
    }
  };
  parallel_for(view.rows, std::max<std::int64_t>(16, 65536 / (view.cols + 1)), add_rows);
  return y;
}

Words multiply_rows(const HostMatrix& matrix, double unit, const Words& x,
                    std::vector<char>* broken = nullptr) {
  return on_type(matrix.type(),
                 [&](auto zero) { return multiply_rows<decltype(zero)>(matrix, unit, x, broken); });
}

Words random_words(std::int64_t count, std::uint64_t seed) {
  Words words(count);
  for (std::int64_t i = 0; i < count; ++i) words[i] = mix_bits(mix_bits(seed) + i);
  return words;
}

// Returns row r of alpha A B + beta C in doubles, which is exact since all values are integers.
std::vector<double> exact_row(const Problem& p, const HostMatrix& a, const HostMatrix& b,
                              const HostMatrix& c, std::int64_t r) {
  std::vector<double> row(p.n, 0.0);
  const bool product = p.alpha != 0 && p.k != 0;
  parallel_for(p.n, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; product && i < p.k; ++i) sum += a.at(r, i) * b.at(i, j);
      row[j] = (product ? p.alpha * sum : 0) + (p.beta != 0 ? p.beta * c.at(r, j) : 0);
    }
  });
  return row;
}

// Finds the first wrong entry of a wrong row and counts the wrong entries in it.
void locate(Comparison& result, const std::vector<double>& want, const HostMatrix& d,
            std::int64_t r) {
  for (std::int64_t j = 0; j < d.view().cols; ++j) {
    const double got = d.at(r, j);
    if (got == want[j]) continue;
    ++result.bad;
    if (!result.first) result.first = Mismatch{r, j, got, want[j]};
  }
}

}  // namespace

Comparison compare_rows_exactly(const Problem& problem, const HostMatrix& a, const HostMatrix& b,
                                const HostMatrix& c, const HostMatrix& d, std::uint64_t seed) {
  if (facts_of(d.type()).digits < kFewestDigits) refuse_type("the check of whole rows", d.type());
  const Words x = random_words(problem.n, seed);
  std::vector<char> broken(problem.m, 0);
  const Words left = multiply_rows(d, kQuarters, x, &broken);
  Words right(problem.m, 0);
  const auto add_scaled = [&](double scale, const Words& words) {
    const auto factor = static_cast<std::uint64_t>(static_cast<std::int64_t>(scale * kQuarters));
    for (std::int64_t r = 0; r < problem.m; ++r) right[r] += factor * words[r];
  };
  if (problem.alpha != 0 && problem.k != 0) {
    add_scaled(problem.alpha, multiply_rows(a, 1, multiply_rows(b, 1, x)));
  }
  if (problem.beta != 0) add_scaled(problem.beta, multiply_rows(c, 1, x));

  Comparison result;
  result.checked = problem.m * problem.n;
  for (std::int64_t r = 0; r < problem.m; ++r) {
    if (left[r] == right[r] && !broken[r]) continue;
    if (!result.first) {
      locate(result, exact_row(problem, a, b, c, r), d, r);
    } else {
      ++result.bad;  // at least one in each further wrong row
    }
  }
  if (result.bad) result.max_error_ratio = std::numeric_limits<double>::infinity();
  return result;
}

}  // namespace tessera::lab
