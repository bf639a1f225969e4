// Tessera in C++20: D = alpha op(A) op(B) + beta C with views that know their element type, and
// handles that are destroyed automatically. This thin layer over gemm.h allocates nothing itself.
// Throws tessera::Error if a status is not TESSERA_OK, std::invalid_argument if views do not fit
// one another or a plan, and std::length_error if a span is too short for its view.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tessera/gemm.h"

namespace tessera {

class Error : public std::runtime_error {
 public:
  explicit Error(tessera_status status)
      : std::runtime_error(tessera_last_message()), status_(status) {}
  tessera_status status() const { return status_; }

 private:
  tessera_status status_;
};

inline void require(tessera_status status) {
  if (status != TESSERA_OK) throw Error(status);
}

// The tessera_type of a C++ type. For a type of your own, such as __half, add a specialisation:
// template <> inline constexpr tessera_type tessera::type_of<__half> = TESSERA_F16;
template <class T>
inline constexpr tessera_type type_of = TESSERA_AS_A;  // for types that are no element type
template <>
inline constexpr tessera_type type_of<double> = TESSERA_F64;
template <>
inline constexpr tessera_type type_of<float> = TESSERA_F32;
template <>
inline constexpr tessera_type type_of<std::int8_t> = TESSERA_S8;
template <>
inline constexpr tessera_type type_of<std::int32_t> = TESSERA_S32;

// 16-bit and 8-bit floats for callers that have no such types. They have bits, but no arithmetic.
enum class half : std::uint16_t {};
enum class bfloat16 : std::uint16_t {};
enum class e4m3 : std::uint8_t {};
enum class e5m2 : std::uint8_t {};
template <>
inline constexpr tessera_type type_of<half> = TESSERA_F16;
template <>
inline constexpr tessera_type type_of<bfloat16> = TESSERA_BF16;
template <>
inline constexpr tessera_type type_of<e4m3> = TESSERA_E4M3;
template <>
inline constexpr tessera_type type_of<e5m2> = TESSERA_E5M2;

template <class T>
concept Element = type_of<std::remove_const_t<T>>
!= TESSERA_AS_A;

// A view of a matrix in memory: element (r, c) is data[r * row_stride + c * col_stride], and one of
// the strides is 1. A std::mdspan of rank 2 converts to a Matrix implicitly.
template <Element T>
struct Matrix {
  T* data = nullptr;
  std::int64_t rows = 0, cols = 0;
  std::int64_t row_stride = 1, col_stride = 0;

  Matrix() = default;
  Matrix(T* first, std::int64_t r, std::int64_t c, std::int64_t by_row, std::int64_t by_col)
      : data(first), rows(r), cols(c), row_stride(by_row), col_stride(by_col) {}
  // Converts any type with data_handle(), extent(i) and stride(i), such as a std::mdspan of rank 2.
  template <class View>
  requires requires(const View& view) {
    { view.data_handle() } -> std::convertible_to<T*>;
    { view.stride(1) } -> std::convertible_to<std::int64_t>;
  }
  Matrix(const View& view)  // NOLINT: implicit
      : Matrix(view.data_handle(), static_cast<std::int64_t>(view.extent(0)),
               static_cast<std::int64_t>(view.extent(1)), static_cast<std::int64_t>(view.stride(0)),
               static_cast<std::int64_t>(view.stride(1))) {}
  operator Matrix<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, cols, row_stride, col_stride};
  }
  Matrix transposed() const { return {data, cols, rows, col_stride, row_stride}; }
  // A view of rows [r, r + row_count) and columns [c, c + col_count).
  Matrix block(std::int64_t r, std::int64_t c, std::int64_t row_count,
               std::int64_t col_count) const {
    return {data + r * row_stride + c * col_stride, row_count, col_count, row_stride, col_stride};
  }
};

// Views of memory. `ld` is the leading dimension in elements; 0: there are no gaps.
template <class T>
Matrix<T> column_major(T* data, std::int64_t rows, std::int64_t cols, std::int64_t ld = 0) {
  return {data, rows, cols, 1, ld != 0 ? ld : (rows > 0 ? rows : 1)};
}
template <class T>
Matrix<T> row_major(T* data, std::int64_t rows, std::int64_t cols, std::int64_t ld = 0) {
  return {data, rows, cols, ld != 0 ? ld : (cols > 0 ? cols : 1), 1};
}
// Views of a span, without gaps. Throws std::length_error if the span is too short.
template <class T>
Matrix<T> column_major(std::span<T> all, std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || cols < 0 || all.size() < static_cast<std::size_t>(rows * cols)) {
    throw std::length_error("a span of " + std::to_string(all.size()) +
                            " elements is no matrix of " + std::to_string(rows) + " x " +
                            std::to_string(cols));
  }
  return column_major(all.data(), rows, cols);
}
template <class T>
Matrix<T> row_major(std::span<T> all, std::int64_t rows, std::int64_t cols) {
  return column_major(all, cols, rows).transposed();
}

// A bias or a scale: one value for each row of D, or one for each column of D. The length is
// checked. A bias has D's type; a scale has floats, or doubles if A is FP64.
struct Vector {
  const void* data = nullptr;
  std::int64_t count = 0;
  tessera_type type = TESSERA_AS_A;
  bool is_per_row = false;
};
template <Element T>
Vector per_row(std::span<T> values) {
  return {values.data(), static_cast<std::int64_t>(values.size()), type_of<std::remove_const_t<T>>,
          true};
}
template <Element T>
Vector per_column(std::span<T> values) {
  return {values.data(), static_cast<std::int64_t>(values.size()), type_of<std::remove_const_t<T>>,
          false};
}

// All properties of a product except for its matrices.
struct Settings {
  double alpha = 1, beta = 0;
  tessera_compute compute = TESSERA_COMPUTE_USUAL;
  tessera_memory memory = TESSERA_DEVICE_MEMORY;
  void* stream = nullptr;
  void* workspace = nullptr;  // for Plan::run()
  std::size_t workspace_bytes = 0;
  // d = activation(scale (alpha a b + beta c) + bias)
  Vector scale = {}, bias = {};
  tessera_activation activation = TESSERA_NO_ACTIVATION;
  // A second output of d's type, size and order: d before its activation. ldx = 0: smallest legal.
  void* x = nullptr;
  std::int64_t ldx = 0;
  // Packed forms of a and b; the matrices a and b must be given as well.
  tessera_packed packed_a = nullptr, packed_b = nullptr;
};

namespace detail {

// The op and the leading dimension that describe matrix `m` in a problem of this order.
template <class T>
std::pair<tessera_op, std::int64_t> op_of(const Matrix<T>& m, bool is_column_major,
                                          const char* name) {
  const auto fits = [](std::int64_t unit, std::int64_t ld, std::int64_t length,
                       std::int64_t lines) {
    return (unit == 1 || length <= 1) && (ld >= length || lines <= 1);
  };
  const auto at_least = [](std::int64_t ld, std::int64_t length) {
    return ld > length ? ld : length;
  };
  const bool by_rows = fits(m.col_stride, m.row_stride, m.cols, m.rows);
  const bool by_cols = fits(m.row_stride, m.col_stride, m.rows, m.cols);
  if (by_cols && (is_column_major || !by_rows)) {
    return {is_column_major ? TESSERA_N : TESSERA_T, at_least(m.col_stride, m.rows)};
  }
  if (by_rows) return {is_column_major ? TESSERA_T : TESSERA_N, at_least(m.row_stride, m.cols)};
  const bool along_row = m.col_stride == 1, has_unit = along_row || m.row_stride == 1;
  throw std::invalid_argument(
      std::string("strides of ") + name + " are " + std::to_string(m.row_stride) + " and " +
      std::to_string(m.col_stride) + ", but " +
      (has_unit ? std::string("lines must not overlap: with ") + (along_row ? "rows" : "columns") +
                      " of " + std::to_string(along_row ? m.cols : m.rows) +
                      " elements the other stride, the ld, must be at least that"
                : std::string("one of them must be 1")));
}

inline void require_same(const char* what, std::int64_t a, std::int64_t b) {
  if (a == b) return;
  throw std::invalid_argument(std::string(what) + " are " + std::to_string(a) + " and " +
                              std::to_string(b) + ", but must be equal");
}

// 0 if there is no vector, else PER_ROW or PER_COLUMN: equal in tessera_scale and tessera_bias.
inline std::int32_t kind_of(const Vector& vector, const char* name, std::int64_t rows,
                            std::int64_t columns, std::int32_t wanted) {
  if (vector.data == nullptr) return TESSERA_NO_BIAS;
  require_same(name, vector.count, vector.is_per_row ? rows : columns);
  if (vector.type != wanted) {
    throw std::invalid_argument(std::string(name) + " are of type number " +
                                std::to_string(vector.type) + ", but must be of " +
                                std::to_string(wanted));
  }
  return vector.is_per_row ? TESSERA_BIAS_PER_ROW : TESSERA_BIAS_PER_COLUMN;
}

}  // namespace detail

// The problem of d = alpha a b + beta c. c has d's shape and order; c.data is null if unread.
template <class A, class B, class C, class D>
tessera_problem problem_of(const Matrix<A>& a, const Matrix<B>& b, const Matrix<C>& c,
                           const Matrix<D>& d, const Settings& settings = {}) {
  detail::require_same("rows of A and D", a.rows, d.rows);
  detail::require_same("columns of A and rows of B", a.cols, b.rows);
  detail::require_same("columns of B and D", b.cols, d.cols);
  const bool is_column_major = detail::op_of(d, true, "D").first == TESSERA_N;
  tessera_problem p{};
  p.size = sizeof p;
  p.m = d.rows;
  p.n = d.cols;
  p.k = a.cols;
  p.type_a = type_of<std::remove_const_t<A>>;
  p.type_b = type_of<std::remove_const_t<B>>;
  p.type_c = type_of<std::remove_const_t<C>>;
  p.type_d = type_of<std::remove_const_t<D>>;
  p.compute = settings.compute;
  p.order = is_column_major ? TESSERA_COLUMN_MAJOR : TESSERA_ROW_MAJOR;
  std::tie(p.op_a, p.lda) = detail::op_of(a, is_column_major, "A");
  std::tie(p.op_b, p.ldb) = detail::op_of(b, is_column_major, "B");
  p.ldc = p.ldd = detail::op_of(d, is_column_major, "D").second;
  if (c.data != nullptr) {
    detail::require_same("rows of C and D", c.rows, d.rows);
    detail::require_same("columns of C and D", c.cols, d.cols);
    const auto [op_c, ldc] = detail::op_of(c, is_column_major, "C");
    if (op_c != TESSERA_N) throw std::invalid_argument("C and D must be of one order");
    p.ldc = ldc;
  }
  p.memory = settings.memory;
  p.scale = detail::kind_of(settings.scale, "scales and lines of D", d.rows, d.cols,
                            p.type_a == TESSERA_F64 ? TESSERA_F64 : TESSERA_F32);
  p.bias = detail::kind_of(settings.bias, "biases and lines of D", d.rows, d.cols, p.type_d);
  p.activation = settings.activation;
  if (settings.x != nullptr) {
    p.auxiliary = TESSERA_BEFORE_ACTIVATION;
    p.ldx = settings.ldx;
  }
  return p;
}

template <class A, class B, class C, class D>
tessera_arguments arguments_of(const Matrix<A>& a, const Matrix<B>& b, const Matrix<C>& c,
                               const Matrix<D>& d, const Settings& settings) {
  tessera_arguments in{};
  in.size = sizeof in;
  in.alpha = settings.alpha;
  in.beta = settings.beta;
  in.a = a.data;
  in.b = b.data;
  in.c = c.data;
  in.d = d.data;
  in.stream = settings.stream;
  in.workspace = settings.workspace;
  in.workspace_bytes = settings.workspace_bytes;
  in.scale = settings.scale.data;
  in.bias = settings.bias.data;
  in.x = settings.x;
  in.packed_a = settings.packed_a;
  in.packed_b = settings.packed_b;
  return in;
}

// Owns a handle of the C interface, and destroys it. Movable only.
class Handle {
 public:
  // `gpu`: the number of a GPU, TESSERA_CURRENT_CONTEXT, TESSERA_CPU or TESSERA_ANY_PLACE.
  explicit Handle(std::int32_t gpu = TESSERA_CURRENT_CONTEXT) {
    tessera_place place{};
    place.size = sizeof place;
    place.gpu = gpu;
    require(tessera_create(&handle_, &place));
  }
  explicit Handle(const tessera_place& place) { require(tessera_create(&handle_, &place)); }
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { tessera_destroy(handle_); }
  tessera_handle get() const { return handle_; }

  // Computes d = alpha a b + beta c. For a transposed matrix, pass the view a.transposed().
  template <class A, class B, class C, class D>
  void gemm(const Matrix<A>& a, const Matrix<B>& b, const Matrix<C>& c, const Matrix<D>& d,
            const Settings& settings = {}) const {
    const tessera_problem problem = problem_of(a, b, c, d, settings);
    const tessera_arguments in = arguments_of(a, b, c, d, settings);
    require(tessera_gemm_with(handle_, &problem, nullptr, &in));
  }
  // Computes d = a b.
  template <class A, class B, class D>
  void matmul(const Matrix<A>& a, const Matrix<B>& b, const Matrix<D>& d,
              const Settings& settings = {}) const {
    gemm(a, b, Matrix<D>{}, d, settings);
  }
  // Plans these problems and loads their code, so that first calls cost as little as later calls.
  void warm_up(std::span<const tessera_problem> problems, void* stream = nullptr,
               const tessera_plan_options* options = nullptr) const {
    require(tessera_warm_up(handle_, problems.data(), problems.size(), options, stream));
  }
  tessera_explanation explain(const tessera_problem& problem) const {
    tessera_explanation out{};
    out.size = sizeof out;
    require(tessera_explain(handle_, &problem, nullptr, &out, nullptr, 0));
    return out;
  }

 private:
  tessera_handle handle_ = nullptr;
};

// The bytes of device memory that A or B of this problem takes in packed form.
inline std::size_t packed_bytes(const Handle& handle, const tessera_problem& problem,
                                tessera_operand operand) {
  std::size_t bytes = 0;
  require(tessera_packed_bytes(handle.get(), &problem, operand, &bytes));
  return bytes;
}

// A packed operand, which many products can read. Pass get() in Settings. The caller owns the
// memory of the packed operand: the destructor does not free the memory. Movable only.
class Packed {
 public:
  // Packs A or B of this problem. The problem has no batch, and `memory` is aligned to 256 bytes.
  Packed(const Handle& handle, const tessera_problem& problem, tessera_operand operand,
         const void* matrix, void* memory, std::size_t bytes, void* stream = nullptr) {
    require(tessera_pack(&packed_, handle.get(), &problem, operand, matrix, memory, bytes, stream));
  }
  Packed(Packed&& other) noexcept : packed_(std::exchange(other.packed_, nullptr)) {}
  Packed& operator=(Packed&& other) noexcept {
    std::swap(packed_, other.packed_);
    return *this;
  }
  ~Packed() { tessera_packed_destroy(packed_); }
  tessera_packed get() const { return packed_; }

 private:
  tessera_packed packed_ = nullptr;
};

// Owns a plan of the C interface, for matrices of one shape, type and alignment. Movable only.
class Plan {
 public:
  Plan(const Handle& handle, const tessera_problem& problem,
       const tessera_plan_options* options = nullptr)
      : problem_(problem) {
    require(tessera_plan_create(&plan_, handle.get(), &problem, options));
  }
  Plan(Plan&& other) noexcept
      : problem_(other.problem_), plan_(std::exchange(other.plan_, nullptr)) {}
  Plan& operator=(Plan&& other) noexcept {
    std::swap(problem_, other.problem_);
    std::swap(plan_, other.plan_);
    return *this;
  }
  ~Plan() { tessera_plan_destroy(plan_); }
  tessera_plan get() const { return plan_; }
  std::size_t workspace_bytes() const {
    std::size_t bytes = 0;
    require(tessera_plan_workspace(plan_, &bytes));
    return bytes;
  }
  // Throws std::invalid_argument if the matrices and settings do not fit the plan's problem.
  template <class A, class B, class C, class D>
  void run(const Matrix<A>& a, const Matrix<B>& b, const Matrix<C>& c, const Matrix<D>& d,
           const Settings& settings = {}) const {
    const tessera_problem p = problem_of(a, b, c, d, settings);
    const tessera_problem& q = problem_;
    const bool is_same =
        p.m == q.m && p.n == q.n && p.k == q.k && p.type_a == q.type_a && p.type_b == q.type_b &&
        p.type_c == q.type_c && p.type_d == q.type_d && p.order == q.order && p.op_a == q.op_a &&
        p.op_b == q.op_b && p.lda == q.lda && p.ldb == q.ldb && p.ldd == q.ldd &&
        p.scale == q.scale && p.bias == q.bias && p.activation == q.activation &&
        p.auxiliary == q.auxiliary && p.ldx == q.ldx && (c.data == nullptr || p.ldc == q.ldc);
    if (!is_same) throw std::invalid_argument("these matrices are not what the plan is for");
    const tessera_arguments in = arguments_of(a, b, c, d, settings);
    require(tessera_plan_run(plan_, &in));
  }
  template <class A, class B, class D>
  void run(const Matrix<A>& a, const Matrix<B>& b, const Matrix<D>& d,
           const Settings& settings = {}) const {
    run(a, b, Matrix<D>{}, d, settings);
  }

 private:
  tessera_problem problem_{};
  tessera_plan plan_ = nullptr;
};

}  // namespace tessera
