#include "lab/suite/check.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "base/elements.h"
#include "lab/data/fill.h"
#include "lab/verify/compare.h"
#include "lab/verify/reference.h"

namespace tessera::lab {
namespace {

constexpr std::int64_t kLooked = 6;  // rows and columns that are checked

// Returns the first index, the last one, and seeded ones between them.
std::vector<std::int64_t> sample_of(std::int64_t extent, std::uint64_t seed) {
  std::set<std::int64_t> places{0, extent - 1};
  for (std::int64_t i = 0; i < kLooked - 2; ++i) {
    places.insert(static_cast<std::int64_t>(mix_bits(seed + static_cast<std::uint64_t>(i)) %
                                            static_cast<std::uint64_t>(extent)));
  }
  return {places.begin(), places.end()};
}

// Checks a sample of one product.
class ProductSample {
 public:
  ProductSample(Device& device, const DrawnCell& cell, const CellOperands& operands,
                std::size_t product)
      : device_(device),
        cell_(cell),
        operands_(operands),
        product_(product),
        rows_(sample_of(cell.problem.m, mix_bits(2 * product + 1))),
        cols_(sample_of(cell.problem.n, mix_bits(2 * product + 2))),
        small_(small_problem()),
        c_(cell.problem.types.c, view_c(small_), 0) {}

  void before() {
    if (cell_.problem.beta != 0) {
      read_results(c_);
      return;
    }
    const std::uint64_t nan = poison_of(cell_.problem.types.d);
    each_entry([&](std::int64_t, std::int64_t, DeviceAddress at) {
      device_.copy_in(at, &nan, static_cast<std::size_t>(size_of(cell_.problem.types.d)));
    });
  }

  Comparison after() {
    const Problem& p = cell_.problem;
    HostMatrix a(p.types.a, view_a(small_), 0), b(p.types.b, view_b(small_), 0);
    HostMatrix d(p.types.d, view_d(small_), 0);
    const std::size_t rows = rows_.size(), cols = cols_.size();
    for (std::size_t r = 0; r < rows; ++r) gather(a, true, r);
    for (std::size_t c = 0; c < cols; ++c) gather(b, false, c);
    read_results(d);
    HostMatrix bias(bias_type(p.types), view_of(p.epilogue.bias, small_), 0);
    for (std::int64_t i = 0; i < bias.view().rows; ++i) {
      const auto& places = p.epilogue.bias == VectorKind::kPerRow ? rows_ : cols_;
      bias.set(i, 0, element(places[static_cast<std::size_t>(i)]));
    }
    const Reference reference = make_reference(small_, a, b, c_, {}, {nullptr, &bias});
    const Bound bound = bound_after(p.epilogue, bound_for(p.types, p.k, Fill::kUniform), p.types);
    return compare(d, reference, bound);
  }

 private:
  Problem small_problem() const {
    Problem p = cell_.problem;
    p.m = static_cast<std::int64_t>(rows_.size());
    p.n = static_cast<std::int64_t>(cols_.size());
    p.batch = {};
    p.order = Order::kRowMajor;
    p.lda = p.ldb = p.ldc = p.ldd = 0;
    set_layout(p, "NT");  // both along k
    return with_default_ld(p);
  }

  // Returns an element of the pool, in which the pattern repeats.
  double element(std::int64_t place) const {
    return operands_.pattern->at(0, place % operands_.pattern->view().cols);
  }

  // Gathers row rows_[i] of A, or column cols_[i] of B, as row or column i of a small matrix.
  void gather(HostMatrix& to, bool is_a, std::size_t i) const {
    const Problem& p = cell_.problem;
    const MatrixView view = is_a ? view_a(p) : view_b(p);
    const DeviceAddress base = is_a ? operands_.a[product_] : operands_.b[product_];
    const std::int64_t first =
        static_cast<std::int64_t>(base - operands_.pool) / size_of(p.types.a) +
        (is_a ? rows_[i] * view.row : cols_[i] * view.col);
    const std::int64_t step = is_a ? view.col : view.row;
    std::vector<double> values(static_cast<std::size_t>(p.k));
    for (std::int64_t l = 0; l < p.k; ++l) {
      values[static_cast<std::size_t>(l)] = element(first + l * step);
    }
    to.set_run(static_cast<std::int64_t>(i) * p.k, values.data(), p.k);
  }

  template <class Body>
  void each_entry(Body body) const {
    const MatrixView view = view_d(cell_.problem);
    const int bytes = size_of(cell_.problem.types.d);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (std::size_t c = 0; c < cols_.size(); ++c) {
        body(static_cast<std::int64_t>(r), static_cast<std::int64_t>(c),
             operands_.d[product_] + (rows_[r] * view.row + cols_[c] * view.col) * bytes);
      }
    }
  }

  void read_results(HostMatrix& to) const {
    const auto bytes = static_cast<std::size_t>(size_of(to.type()));
    each_entry([&](std::int64_t r, std::int64_t c, DeviceAddress at) {
      const std::int64_t place = r * to.view().row + c * to.view().col;
      device_.copy_out(to.bytes() + to.front_bytes() + place * static_cast<std::int64_t>(bytes), at,
                       bytes);
    });
  }

  Device& device_;
  const DrawnCell& cell_;
  const CellOperands& operands_;
  const std::size_t product_;
  const std::vector<std::int64_t> rows_, cols_;
  const Problem small_;
  HostMatrix c_;
};

}  // namespace

SampleCheck check_samples(Device& device, const DrawnCell& cell, const CellOperands& operands,
                          const std::function<void(const Operands&)>& call) {
  std::vector<ProductSample> samples;
  for (std::size_t i = 0; i < operands.products.size(); ++i) {
    samples.emplace_back(device, cell, operands, i);
    samples.back().before();
  }
  call(operands[0]);
  device.synchronize();
  SampleCheck result{.ok = true};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Comparison found = samples[i].after();
    result.max_error_ratio = std::max(result.max_error_ratio, found.max_error_ratio);
    if (found.ok() || !result.ok) continue;
    result.ok = false;
    result.reason = "product " + std::to_string(operands.products[i]) +
                    ", sampled entries: " + describe(found, cell.problem.types.d);
  }
  return result;
}

}  // namespace tessera::lab
