#include "lab/verify/reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "lab/data/fill.h"
#include "lab/data/parallel.h"
#include "lab/verify/compare.h"
#include "lab/verify/products.h"

namespace tessera::lab {
namespace {

constexpr std::int64_t kMostEntries = 16384;
constexpr std::int64_t kMostFullEntries = std::int64_t{1} << 27;  // in D; in A and B together

// A sum over k, before alpha and beta are applied.
struct Sum {
  double high = 0, low = 0, magnitude = 0;
};

struct TwoDoubles {
  double high, low;
};

TwoDoubles two_sum(double x, double y) {
  const double sum = x + y, added = sum - x;
  return {sum, (x - (sum - added)) + (y - added)};
}

TwoDoubles two_product(double x, double y) {
  const double product = x * y;
  return {product, std::fma(x, y, -product)};
}

// Scales a sum and adds beta * C in double-double, applies the epilogue in a long double of 64
// bits, and stores the value as entry i of the reference.
class Finisher {
 public:
  Finisher(const Problem& problem, const HostMatrix& c, const EpilogueVectors& vectors)
      : c_(c),
        epilogue_(problem.epilogue),
        vectors_(vectors),
        alpha_(problem.k == 0 ? 0 : scale_in_type(problem.types.compute, problem.alpha)),
        beta_(scale_in_type(problem.types.compute, problem.beta)),
        is_of_integers_(!is_float(facts_of(problem.types.compute).sum)) {}

  void store(Reference& out, std::int64_t i, const Sum& sum) const {
    const auto [row, col] = out.entry(i);
    const double c = beta_ != 0 ? c_.at(row, col) : 0;
    if (is_of_integers_) return store_integer(out, i, sum, c);
    const TwoDoubles product = alpha_ != 0 ? two_product(alpha_, sum.high) : TwoDoubles{0, 0};
    const TwoDoubles addend = beta_ != 0 ? two_product(beta_, c) : TwoDoubles{0, 0};
    const TwoDoubles total = two_sum(product.high, addend.high);
    const double rest = total.low + product.low + addend.low + alpha_ * sum.low;
    // WHY: the error terms of infinities are NaN, so an infinite sum is stored without them.
    const bool finite = std::isfinite(total.high) && std::isfinite(rest);
    const TwoDoubles value = finite ? two_sum(total.high, rest) : TwoDoubles{total.high, 0};
    out.high[i] = value.high;
    if (!out.low.empty()) out.low[i] = value.low;
    out.magnitude[i] = (alpha_ != 0 ? std::abs(alpha_) * sum.magnitude : 0) + std::abs(beta_ * c);
    if (!epilogue_.is_identity()) finish(out, i, value);
  }

 private:
  // Stores an integer modulo 2^32, since a GPU's integer sums wrap around. An FP64 sum of products
  // of bytes is exact for every k that fits into memory.
  void store_integer(Reference& out, std::int64_t i, const Sum& sum, double c) const {
    const auto wrapped = [](double x) {
      return static_cast<std::uint32_t>(static_cast<std::int64_t>(x));
    };
    const std::uint32_t value = wrapped(alpha_) * wrapped(sum.high) + wrapped(beta_) * wrapped(c);
    out.high[i] = static_cast<std::int32_t>(value);
    out.magnitude[i] = std::abs(alpha_) * sum.magnitude + std::abs(beta_ * c);
  }

  void finish(Reference& out, std::int64_t i, const TwoDoubles& sum) const {
    const Entry at = out.entry(i);
    const auto value_of = [&](const HostMatrix* vector, VectorKind kind, double none) {
      if (kind == VectorKind::kNone) return none;
      return vector->at(kind == VectorKind::kPerRow ? at.row : at.col, 0);
    };
    const double scale = value_of(vectors_.scale, epilogue_.scale, 1);
    const double bias = value_of(vectors_.bias, epilogue_.bias, 0);
    long double value = static_cast<long double>(sum.high) + sum.low;
    if (epilogue_.scale != VectorKind::kNone) value *= scale;
    if (epilogue_.bias != VectorKind::kNone) value += bias;
    value = row_of(epilogue_.activation).formula(value);
    out.high[i] = static_cast<double>(value);
    if (!out.low.empty()) {
      out.low[i] = std::isfinite(out.high[i]) ? static_cast<double>(value - out.high[i]) : 0;
    }
    out.magnitude[i] = row_of(epilogue_.activation).steepest_slope *
                       (std::abs(scale) * out.magnitude[i] + std::abs(bias));
  }

  const HostMatrix& c_;
  const Epilogue epilogue_;
  const EpilogueVectors vectors_;
  double alpha_, beta_;
  bool is_of_integers_;
};

// Whether a reference in FP64 is not exact enough. FP64 holds exact products of FP32 and narrower
// numbers, and the sums of these products with many digits to spare.
bool needs_double_double(const Types& types) {
  return facts_of(facts_of(types.compute).sum).digits > 32;
}

// Returns the logical matrix, row-major without gaps, in FP64.
std::vector<double> dense(const HostMatrix& matrix) {
  const MatrixView view = matrix.view();
  std::vector<double> out(view.rows * view.cols);
  const auto copy_rows = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      matrix.get_run(r * view.row, view.col, out.data() + r * view.cols, view.cols);
    }
  };
  parallel_for(view.rows, 65536 / (view.cols + 1) + 1, copy_rows);
  return out;
}

// Computes c = a b in FP64 with OpenBLAS or our own loop. Returns the name of the code that was
// used.
std::string multiply_fp64(const Extents& size, const double* a, const double* b, double* c,
                          const ReferenceOptions& options) {
  const OpenBlas* blas = options.own_code_only ? nullptr : OpenBlas::load(options.openblas_path);
  if (blas && multiply_by(*blas, size, a, b, c)) return blas->version() + " FP64";
  multiply_blocked(size, a, b, c);
  return "blocked FP64";
}

void full_reference(Reference& out, const Problem& problem, const HostMatrix& a,
                    const HostMatrix& b, const Finisher& finisher,
                    const ReferenceOptions& options) {
  const Extents size{problem.m, problem.n, problem.k};
  std::vector<double> x = dense(a), y = dense(b);
  const bool twice = !out.low.empty();
  if (twice) {
    multiply_double_double(size, x.data(), y.data(), out.high.data(), out.low.data());
    out.method = "double-double";
  } else {
    out.method = multiply_fp64(size, x.data(), y.data(), out.high.data(), options);
  }
  for (std::vector<double>* operand : {&x, &y}) {
    for (double& value : *operand) value = std::abs(value);
  }
  multiply_fp64(size, x.data(), y.data(), out.magnitude.data(), options);
  parallel_for(out.high.size(), 65536, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      finisher.store(out, i, {out.high[i], twice ? out.low[i] : 0, out.magnitude[i]});
    }
  });
}

// Returns one entry of A B in double-double, straight from the strided operands.
Sum dot(const HostMatrix& a, const HostMatrix& b, const Entry& entry) {
  constexpr std::int64_t kChunk = 256;
  std::array<double, kChunk> left, right;
  Sum sum;
  for (std::int64_t first = 0; first < a.view().cols; first += kChunk) {
    const std::int64_t count = std::min(kChunk, a.view().cols - first);
    a.get_run(entry.row * a.view().row + first * a.view().col, a.view().col, left.data(), count);
    b.get_run(entry.col * b.view().col + first * b.view().row, b.view().row, right.data(), count);
    for (std::int64_t p = 0; p < count; ++p) {
      const TwoDoubles product = two_product(left[p], right[p]);
      const TwoDoubles added = two_sum(sum.high, product.high);
      sum.high = added.high;
      sum.low += added.low + product.low;
      sum.magnitude += std::abs(product.high);
    }
  }
  return sum;
}

void listed_reference(Reference& out, const Problem& problem, const HostMatrix& a,
                      const HostMatrix& b, const Finisher& finisher) {
  out.method = "double-double";
  parallel_for(out.high.size(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Entry entry = out.entry(i);
      const Sum sum = reads_ab(problem) ? dot(a, b, entry) : Sum{};
      finisher.store(out, i, sum);
    }
  });
}

// Returns the indices on both sides of every multiple of `tile` below `extent`.
std::vector<std::int64_t> seam_sides(std::int64_t extent, std::int64_t tile) {
  std::vector<std::int64_t> sides;
  for (std::int64_t left = extent; left > tile; left -= tile) {  // the seam itself may overflow
    const std::int64_t seam = extent - left + tile;
    sides.push_back(seam - 1);
    sides.push_back(seam);
  }
  return sides;
}

}  // namespace

bool fits_full_reference(const Problem& p, std::int64_t full_limit) {
  const auto product = [](std::int64_t x, std::int64_t y) { return static_cast<double>(x) * y; };
  return product(p.m, p.n) * p.k <= full_limit && product(p.m, p.n) <= kMostFullEntries &&
         (8.0 + p.m + p.n) * p.k <= kMostFullEntries;
}

double scale_in_type(ComputeType type, double scale) {
  return rounded_to(facts_of(type).sum, scale);
}

std::vector<Entry> sample_entries(const Problem& problem, std::uint64_t seed, int seeded) {
  const std::int64_t m = problem.m, n = problem.n;
  std::vector<Entry> entries;
  if (static_cast<double>(m) * n <= kSeededEntries) {
    for (std::int64_t i = 0; i < m * n; ++i) entries.push_back({i / n, i % n});
    return entries;
  }
  const auto draw = [&](std::uint64_t i, std::int64_t extent) -> std::int64_t {
    return mix_bits(mix_bits(seed) + i) % extent;
  };
  for (std::int64_t i = 0; i < seeded; ++i) {
    entries.push_back({draw(2 * i, m), draw(2 * i + 1, n)});
  }
  for (std::int64_t row : {std::int64_t{0}, m - 1}) {
    for (std::int64_t col : {std::int64_t{0}, n - 1}) entries.push_back({row, col});
  }
  if (seeded < kSeededEntries) return entries;
  std::int64_t tile = 8;
  while (2 * (m / tile + n / tile) > kMostEntries - kSeededEntries - 4) tile *= 2;
  const std::int64_t seeded_row = draw(~0ull, m), seeded_col = draw(~1ull, n);
  for (std::int64_t row : seam_sides(m, tile)) entries.push_back({row, seeded_col});
  for (std::int64_t col : seam_sides(n, tile)) entries.push_back({seeded_row, col});
  return entries;
}

Reference make_reference(const Problem& problem, const HostMatrix& a, const HostMatrix& b,
                         const HostMatrix& c, const ReferenceOptions& options,
                         const EpilogueVectors& vectors) {
  Reference out;
  out.rows = problem.m;
  out.cols = problem.n;
  if (problem.m == 0 || problem.n == 0) return out;
  const bool full = fits_full_reference(problem, options.full_limit);
  if (!full) out.entries = sample_entries(problem, options.seed, options.sample);
  out.sampled = !full && static_cast<double>(problem.m) * problem.n > kSeededEntries;
  const std::size_t count = out.entries.empty() ? problem.m * problem.n : out.entries.size();
  out.high.resize(count);
  out.magnitude.resize(count);
  if (needs_double_double(problem.types) && !options.exact_data) out.low.resize(count);
  const Finisher finisher(problem, c, vectors);
  if (full && reads_ab(problem)) {
    full_reference(out, problem, a, b, finisher, options);
  } else {
    listed_reference(out, problem, a, b, finisher);
  }
  return out;
}

}  // namespace tessera::lab
