#include "gemm/host/cpu.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "base/elements.h"
#include "gemm/host/batch.h"
#include "gemm/host/openblas.h"
#include "gemm/rewrites/fold.h"

namespace tessera::gemm::host {
namespace {

// Blocks of op(A), op(B) and D that are converted and multiplied at a time; they fit the L2 cache.
constexpr std::int64_t kBlockRows = 512, kBlockCols = 512, kBlockDepth = 512;

template <class T>
const T* as(std::uint64_t address) {
  return reinterpret_cast<const T*>(address);
}

// Copies a block of a matrix to row-major numbers without gaps.
template <class T, class Sum>
void pack(const MatrixView& from, const T* base, std::int64_t row0, std::int64_t col0,
          std::int64_t rows, std::int64_t cols, Sum* to) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* row = base + (row0 + r) * from.row + col0 * from.col;
    for (std::int64_t c = 0; c < cols; ++c) *to++ = static_cast<Sum>(row[c * from.col]);
  }
}

template <class Sum>
void pack(ElementType type, const MatrixView& from, std::uint64_t base, std::int64_t row0,
          std::int64_t col0, std::int64_t rows, std::int64_t cols, Sum* to) {
  on_element(type, "the CPU",
             [&]<class T>(T) { pack(from, as<T>(base), row0, col0, rows, cols, to); });
}

struct BlockSize {
  int m, n, k;
};

// c += a b; all three are row-major without gaps.
template <class Sum>
void add_product(const BlockSize& size, const Sum* a, const Sum* b, Sum* c) {
  for (int i = 0; i < size.m; ++i, c += size.n) {
    const Sum* row = b;
    for (int p = 0; p < size.k; ++p, row += size.n) {
      const Sum factor = *a++;
      for (int j = 0; j < size.n; ++j) c[j] += factor * row[j];
    }
  }
}

template <class Sum>
void add_block(const BlockSize& size, const Sum* a, const Sum* b, Sum* c) {
  if constexpr (std::is_floating_point_v<Sum>) {
    if (const OpenBlas* blas = OpenBlas::load()) {
      return blas->multiply(OpenBlas::Call<Sum>{Order::kRowMajor, Op::kNone, Op::kNone, size.m,
                                                size.n, size.k, Sum{1}, a, size.k, b, size.n,
                                                Sum{1}, c, size.n});
    }
  }
  add_product(size, a, b, c);
}

// Integer sums wrap around, so their type is unsigned until here.
template <class Sum>
double number_of(Sum sum) {
  if constexpr (std::is_same_v<Sum, std::uint32_t>) return static_cast<std::int32_t>(sum);
  return static_cast<double>(sum);
}

// value + factor * x in the type of the sums.
template <class Sum>
double added(double value, double factor, double x) {
  if constexpr (std::is_integral_v<Sum>) {
    const auto wrapped = [](double number) {
      return static_cast<Sum>(element_of<std::int64_t>(number));
    };
    return number_of<Sum>(wrapped(value) + wrapped(factor) * wrapped(x));
  }
  return value + factor * x;
}

// values += beta C, along a row of C from (row, col0) on.
template <class Sum>
void add_c_row(const Problem& p, std::uint64_t base, std::int64_t row, std::int64_t col0,
               double beta, std::span<double> values) {
  const MatrixView c = view_c(p);
  on_element(p.types.c, "the CPU", [&]<class In>(In) {
    const In* from = as<In>(base) + row * c.row + col0 * c.col;
    for (double& value : values) {
      value = added<Sum>(value, beta, static_cast<double>(*from));
      from += c.col;
    }
  });
}

void store_d_row(const Problem& p, std::uint64_t base, std::int64_t row, std::int64_t col0,
                 std::span<const double> values) {
  const MatrixView d = view_d(p);
  on_element(p.types.d, "the CPU", [&]<class Out>(Out) {
    Out* to = reinterpret_cast<Out*>(base) + row * d.row + col0 * d.col;
    for (const double value : values) {
      *to = element_of<Out>(value);
      to += d.col;
    }
  });
}

// X = values.
void store_x_row(const Problem& p, std::uint64_t base, std::int64_t row, std::int64_t col0,
                 std::span<const double> values) {
  Problem as_d = p;
  as_d.ldd = p.ldx;
  store_d_row(as_d, base, row, col0, values);
}

// X = scale values + bias and values = activation(X), along a row of D from (row, col0) on.
void finish_row(const Problem& p, const Operands& at, std::int64_t row, std::int64_t col0,
                std::span<double> values) {
  const auto each = [&](VectorKind kind, ElementType type, std::uint64_t address, auto&& apply) {
    if (kind == VectorKind::kNone) return;
    on_element(type, "the CPU", [&]<class T>(T) {
      const T* from = as<T>(address) + (kind == VectorKind::kPerRow ? row : col0);
      for (double& value : values) {
        apply(value, static_cast<double>(*from));
        from += kind == VectorKind::kPerRow ? 0 : 1;
      }
    });
  };
  each(p.epilogue.scale, scale_type(p.types), at.scale,
       [](double& value, double factor) { value *= factor; });
  each(p.epilogue.bias, bias_type(p.types), at.bias,
       [](double& value, double addend) { value += addend; });
  if (p.epilogue.writes_x()) store_x_row(p, at.x, row, col0, values);
  if (p.epilogue.activation == Activation::kIdentity) return;
  const ActivationFormula& activated = row_of(p.epilogue.activation).formula;
  for (double& value : values) value = activated(value);
}

// Computes a block of D from its sums. alpha and beta are rounded to the type of the sums.
template <class Sum>
void store(const Problem& p, const Operands& at, std::int64_t row0, std::int64_t col0,
           const BlockSize& size, const Sum* sums) {
  const auto rounded = [](double value) {
    return static_cast<double>(std::is_same_v<Sum, float> ? static_cast<float>(value) : value);
  };
  const double alpha = rounded(p.alpha), beta = rounded(p.beta);
  std::vector<double> values(static_cast<std::size_t>(size.n));
  for (std::int64_t row = row0; row < row0 + size.m; ++row) {
    for (double& value : values) {
      // WHY 0 if alpha or k is 0: A and B are not read, and 0 times an infinity would not be 0.
      const double sum = number_of(*sums++);
      value = !reads_ab(p) ? 0 : std::is_integral_v<Sum> ? added<Sum>(0, alpha, sum) : alpha * sum;
    }
    if (p.beta != 0) add_c_row<Sum>(p, at.c, row, col0, beta, values);
    if (!p.epilogue.is_identity()) finish_row(p, at, row, col0, values);
    store_d_row(p, at.d, row, col0, values);
  }
}

template <class Sum>
void multiply_blocks(const Problem& p, const Operands& at) {
  const std::int64_t depth = p.alpha == 0 ? 0 : p.k;
  const MatrixView a = view_a(p), b = view_b(p);
  // WHY no larger than the problem: clearing whole blocks takes a millisecond.
  const auto block = [](std::int64_t extent, std::int64_t most) {
    return static_cast<std::size_t>(std::min(extent, most));
  };
  const std::size_t rows = block(p.m, kBlockRows), cols = block(p.n, kBlockCols),
                    deep = block(depth, kBlockDepth);
  std::vector<Sum> block_a(rows * deep), block_b(deep * cols), sums(rows * cols);
  for (std::int64_t row = 0; row < p.m; row += kBlockRows) {
    for (std::int64_t col = 0; col < p.n; col += kBlockCols) {
      BlockSize size{static_cast<int>(std::min(kBlockRows, p.m - row)),
                     static_cast<int>(std::min(kBlockCols, p.n - col)), 0};
      std::fill_n(sums.begin(), size.m * size.n, Sum{0});
      for (std::int64_t first = 0; first < depth; first += kBlockDepth) {
        size.k = static_cast<int>(std::min(kBlockDepth, depth - first));
        pack(p.types.a, a, at.a, row, first, size.m, size.k, block_a.data());
        pack(p.types.b, b, at.b, first, col, size.k, size.n, block_b.data());
        add_block(size, block_a.data(), block_b.data(), sums.data());
      }
      store(p, at, row, col, size, sums.data());
    }
  }
}

// Whether OpenBLAS can compute the problem directly, except for the epilogue: all matrices have one
// type, and all sizes fit an int.
bool fits_openblas(const Problem& p) {
  if (p.k == 0 || p.alpha == 0) return false;  // WHY: OpenBLAS keeps -0 of beta C; 0 + -0 is 0
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  const Types& t = p.types;
  const bool is_one_type = t.a == t.b && t.a == t.d && (p.beta == 0 || t.c == t.d);
  return is_one_type && std::max({p.m, p.n, p.k, p.lda, p.ldb, p.ldd}) <= most;
}

template <class T>
void copy_c_to_d(const Problem& p, const Operands& at) {
  const MatrixView c = view_c(p), d = view_d(p);
  T* const out = reinterpret_cast<T*>(at.d);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      out[i * d.row + j * d.col] = as<T>(at.c)[i * c.row + j * c.col];
    }
  }
}

template <class T>
void multiply_whole(const OpenBlas& blas, const Problem& p, const Operands& at) {
  if (p.beta != 0 && at.c != at.d) copy_c_to_d<T>(p, at);
  // WHY k is 0 if alpha is 0: for small sizes, OpenBLAS reads A and B whatever alpha is.
  const T nothing{};
  const auto size = [](std::int64_t value) { return static_cast<int>(value); };
  blas.multiply(OpenBlas::Call<T>{p.order, p.op_a, p.op_b, size(p.m), size(p.n),
                                  size(reads_ab(p) ? p.k : 0), static_cast<T>(p.alpha),
                                  reads_ab(p) ? as<T>(at.a) : &nothing, size(p.lda),
                                  reads_ab(p) ? as<T>(at.b) : &nothing, size(p.ldb),
                                  static_cast<T>(p.beta), reinterpret_cast<T*>(at.d), size(p.ldd)});
}

// Applies the epilogue to a D that holds the sums.
template <class T>
void finish_whole(const Problem& p, const Operands& at) {
  const MatrixView d = view_d(p);
  std::vector<double> values(static_cast<std::size_t>(p.n));
  for (std::int64_t row = 0; row < p.m; ++row) {
    const T* from = as<T>(at.d) + row * d.row;
    for (double& value : values) {
      value = static_cast<double>(*from);
      from += d.col;
    }
    finish_row(p, at, row, 0, values);
    store_d_row(p, at.d, row, 0, values);
  }
}

template <class Sum>
void multiply_in(const Problem& p, const Operands& at) {
  if constexpr (std::is_floating_point_v<Sum>) {
    const OpenBlas* blas = OpenBlas::load();
    const bool is_sum =
        on_element(p.types.a, "the CPU", []<class T>(T) { return std::is_same_v<T, Sum>; });
    if (blas && is_sum && fits_openblas(p)) {
      multiply_whole<Sum>(*blas, p, at);
      if (!p.epilogue.is_identity()) finish_whole<Sum>(p, at);
      return;
    }
  }
  multiply_blocks<Sum>(p, at);
}

// Whether multiply_one() sums in this type.
bool is_summed_in(ElementType sum) {
  return on_element(sum, "the CPU", []<class Sum>(Sum) {
    return std::is_same_v<Sum, double> || std::is_same_v<Sum, float> ||
           std::is_same_v<Sum, std::int32_t>;
  });
}

void multiply_one(const Problem& p, const Operands& at) {
  on_element(facts_of(p.types.compute).sum, "the CPU", [&]<class Sum>(Sum) {
    if constexpr (std::is_same_v<Sum, double> || std::is_same_v<Sum, float>) {
      multiply_in<Sum>(p, at);
    } else if constexpr (std::is_same_v<Sum, std::int32_t>) {
      multiply_in<std::uint32_t>(p, at);
    }
  });
}

}  // namespace

std::string cpu_library() {
  const OpenBlas* blas = OpenBlas::load();
  return blas ? blas->version() : "our own loops (OpenBLAS is not installed)";
}

Status check_cpu(const Problem& problem) {
  if (Status status = check_supported(problem); !status.ok()) return status;
  const ElementType sum = facts_of(problem.types.compute).sum;
  if (!is_float(sum) && (is_float(problem.types.a) || is_float(problem.types.b))) {
    return Status::unsupported(
        "compute is " + std::string(name_of(problem.types.compute)) +
        ", which multiplies integers by integers alone, but the product is " +
        describe(problem.types));
  }
  if (is_summed_in(sum)) return {};
  return Status::unsupported("compute is " + std::string(name_of(problem.types.compute)) +
                             ", but the CPU multiplies in f64, f32, tf32 and s32");
}

void multiply_on_cpu(const Problem& problem, const Operands& operands) {
  if (problem.m == 0 || problem.n == 0) return;
  if (const auto one = folded(problem)) return multiply_one(*one, operands);
  for (std::int64_t i = 0; i < problem.batch.count; ++i) {
    multiply_one(problem, operands_at(problem, operands, i));
  }
}

}  // namespace tessera::gemm::host
