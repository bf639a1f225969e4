// The problem D = alpha * op(A) * op(B) + beta * C in BLAS terms, and the canonical form that every
// kernel computes. Pure C++.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/types.h"
#include "problem/batch.h"
#include "problem/epilogue.h"
#include "problem/scales.h"

namespace tessera {

enum class Order { kColumnMajor, kRowMajor };
enum class Op { kNone, kTranspose };

std::string_view name_of(Order order);  // "col", "row"
char name_of(Op op);                    // 'N', 'T'
// Parses the name of an order; throws StatusError with a list of the accepted names.
Order parse_order(std::string_view name);

// op(A) is m x k, op(B) is k x n, C and D are m x n, in the caller's own order.
// A leading dimension of 0 means the smallest legal one (with_default_ld fills it in).
struct Problem {
  std::int64_t m = 0, n = 0, k = 0;
  Types types;
  Order order = Order::kColumnMajor;
  Op op_a = Op::kNone, op_b = Op::kNone;
  std::int64_t lda = 0, ldb = 0, ldc = 0, ldd = 0;
  double alpha = 1.0, beta = 0.0;
  Batch batch;
  Epilogue epilogue;
  Scales scales;
  std::int64_t ldx = 0;  // of the epilogue's auxiliary output

  bool operator==(const Problem&) const = default;
};

// Whether the product reads A and B, and whether it reads C.
inline bool reads_ab(const Problem& p) { return p.alpha != 0 && p.k > 0; }
inline bool reads_c(const Problem& p) { return p.beta != 0; }

// The layout as two letters, op A and op B: "NN", "NT", "TN", "TT".
std::string layout_of(const Problem& problem);
void set_layout(Problem& problem, std::string_view layout);  // throws StatusError

// A strided matrix in memory: element (r, c) is at r * row + c * col.
struct MatrixView {
  std::int64_t rows = 0, cols = 0;
  std::int64_t row = 0, col = 0;  // strides in elements
  // The number of elements in memory from the first to the last element of the matrix, gaps
  // included; 0 for an empty matrix.
  std::int64_t span() const { return rows && cols ? (rows - 1) * row + (cols - 1) * col + 1 : 0; }
};

// Views of op(A), op(B), C and D as the caller means them: strides follow from order, op and ld.
MatrixView view_a(const Problem& problem);  // (m, k)
MatrixView view_b(const Problem& problem);  // (k, n)
MatrixView view_c(const Problem& problem);  // (m, n)
MatrixView view_d(const Problem& problem);  // (m, n)
MatrixView view_x(const Problem& problem);  // (m, n); empty if X is not written

Problem with_default_ld(Problem problem);

// Returns an error if a size is negative, an ld too small, a factor or an extent too large for its
// type, or a batch, epilogue or scale illegal. The message names the argument, its value and the
// rule.
Status check(const Problem& problem);

// Returns an error if a factor (alpha or beta) cannot be represented in the type of the sums.
Status check_factor(std::string_view name, double value, const Types& types);

// The vector of an epilogue as an operand: one contiguous value per row (or column) of D. Empty if
// the kind is kNone.
MatrixView view_of(VectorKind kind, const Problem& problem);
// The element types of the epilogue's scale and bias.
ElementType scale_type(const Types& types);
ElementType bias_type(const Types& types);

// Returns kUnsupported for a problem that no kernel can compute yet: a problem with scales, or with
// an epilogue of integer sums. The message names the part that is not supported.
Status check_supported(const Problem& problem);

// Returns the same product in the other order: D^T = op(B)^T op(A)^T, in the same memory. A
// column-major matrix is its transpose in row-major order.
Problem exchanged(Problem problem);
// Returns the exchanged problem if `problem` is column-major; else `problem` itself.
Problem row_major(const Problem& problem);

// The problem as kernels see it: C and D row-major, k and alpha zero if A and B must not be read.
struct Canonical {
  std::int64_t m = 0, n = 0, k = 0;
  bool exchanged = false;  // A is the caller's B and vice versa: the caller's order is column-major
  Types types;             // after that exchange
  MatrixView a, b;         // (m, k) and (k, n)
  std::int64_t c_row = 0, d_row = 0;
  double alpha = 0, beta = 0;
};

// The canonical form of a problem for which check() is ok.
Canonical canonical(const Problem& problem);

}  // namespace tessera
