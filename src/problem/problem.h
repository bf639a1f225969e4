// What is multiplied: D = alpha * op(A) * op(B) + beta * C, in BLAS terms, and the canonical form
// that every kernel computes. Pure C++.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "launch/params.h"

namespace tessera {

enum class DataType { kF64, kF32 };
enum class Order { kColumnMajor, kRowMajor };
enum class Op { kNone, kTranspose };

int size_of(DataType type);               // bytes
std::string_view name_of(DataType type);  // "f64", "f32"
std::string_view name_of(Order order);    // "col", "row"
char name_of(Op op);                      // 'N', 'T'
// Parsers of the same names; throw StatusError that lists what is accepted.
DataType parse_type(std::string_view name);
Order parse_order(std::string_view name);

// op(A) is m x k, op(B) is k x n, C and D are m x n, in the caller's own order.
// A leading dimension of 0 stands for the smallest legal one (resolved by with_default_ld).
struct Problem {
  std::int64_t m = 0, n = 0, k = 0;
  DataType type = DataType::kF32;
  Order order = Order::kColumnMajor;
  Op op_a = Op::kNone, op_b = Op::kNone;
  std::int64_t lda = 0, ldb = 0, ldc = 0, ldd = 0;
  double alpha = 1.0, beta = 0.0;
};

// Two letters, op A and op B: "NN", "NT", "TN", "TT".
std::string layout_of(const Problem& problem);
void set_layout(Problem& problem, std::string_view layout);  // throws StatusError

// A strided matrix in memory: element (r, c) at r * row + c * col.
struct MatrixView {
  std::int64_t rows = 0, cols = 0;
  std::int64_t row = 0, col = 0;  // strides in elements
  // Elements from the first to one past the last one addressed; 0 for an empty matrix.
  std::int64_t span() const { return rows && cols ? (rows - 1) * row + (cols - 1) * col + 1 : 0; }
};

// op(A), op(B), C and D of the problem in the caller's own terms (strides follow order, op and ld).
MatrixView view_a(const Problem& problem);  // (m, k)
MatrixView view_b(const Problem& problem);  // (k, n)
MatrixView view_c(const Problem& problem);  // (m, n)
MatrixView view_d(const Problem& problem);  // (m, n)

Problem with_default_ld(Problem problem);

// Not ok when a size is negative, an ld too small, or an extent overflows 64 bits: names argument,
// value and rule.
Status check(const Problem& problem);

// Base addresses of the operands; C may be null when beta == 0, A and B when they are not read.
struct Operands {
  std::uint64_t a = 0, b = 0, c = 0, d = 0;
};

// Not ok when D shares an element with A or B, or with C other than being C itself (same ldd).
// Exact: sub-blocks of one matrix that interleave in memory but share no element are legal.
Status check_overlap(const Problem& problem, const Operands& operands);

// The problem as kernels see it: C and D row-major (operands exchanged when the caller's order is
// column-major), k and alpha zero when A and B must not be read. Expects check() to be ok.
GemmParams canonical_params(const Problem& problem, const Operands& operands);

}  // namespace tessera
