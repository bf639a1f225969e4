#include "problem/overlap.h"

#include "problem/operands.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tessera {
namespace {

// The contiguous ranges of bytes (runs) that a stored matrix occupies: `runs` of them, each
// `length` bytes long, `step` bytes apart. There are `count` such matrices, `stride` bytes apart.
struct Runs {
  std::uint64_t base;
  std::int64_t runs, length, step;
  std::int64_t count = 1, stride = 0;

  bool is_empty() const { return runs == 0 || length == 0 || count == 0; }
  std::int64_t span() const { return (runs - 1) * step + length; }  // in elements
  std::uint64_t end() const {
    return base + static_cast<std::uint64_t>((count - 1) * stride + span());
  }
  Runs matrix(std::int64_t i) const {
    return {base + static_cast<std::uint64_t>(i * stride), runs, length, step};
  }
};

Runs runs_of(const MatrixView& view, std::uint64_t base, ElementType type) {
  const bool rows_adjacent = view.row == 1;
  const std::int64_t bytes = size_of(type);
  return {base, rows_adjacent ? view.cols : view.rows,
          (rows_adjacent ? view.rows : view.cols) * bytes,
          (rows_adjacent ? view.col : view.row) * bytes};
}

// Whether any run of matrix x shares a byte with any run of matrix y. Loops over the matrix with
// fewer runs; a division finds the runs of the other matrix that are near each run.
bool matrices_touch(Runs x, Runs y) {
  if (x.end() <= y.base || y.end() <= x.base) return false;
  if (x.runs > y.runs) std::swap(x, y);
  for (std::int64_t i = 0; i < x.runs; ++i) {
    // Offset of run i of x from run 0 of y; run j of y touches it when
    // offset - y.length < j * step < offset + x.length.
    const std::int64_t offset = static_cast<std::int64_t>(x.base - y.base) + i * x.step;
    const std::int64_t beyond = offset + x.length;  // first byte after run i of x
    if (beyond <= 0) continue;
    const std::int64_t j = std::min((beyond - 1) / y.step, y.runs - 1);
    if (j * y.step + y.length > offset) return true;
  }
  return false;
}

// Whether two batches share an element. Compares each matrix of x with the matrices of y whose
// address ranges overlap its own.
bool share_an_element(const Runs& x, const Runs& y) {
  if (x.is_empty() || y.is_empty() || x.end() <= y.base || y.end() <= x.base) return false;
  const std::int64_t different = y.stride == 0 ? 1 : y.count;
  for (std::int64_t i = 0; i < (x.stride == 0 ? 1 : x.count); ++i) {
    const Runs one = x.matrix(i);
    const auto offset = static_cast<std::int64_t>(one.base - y.base);
    std::int64_t first = 0, last = different - 1;
    if (y.stride > 0) {
      first = offset < y.span() ? 0 : (offset - y.span()) / y.stride + 1;
      last = offset + one.span() <= 0 ? -1 : std::min(last, (offset + one.span() - 1) / y.stride);
    }
    for (std::int64_t j = first; j <= last; ++j) {
      if (matrices_touch(one, y.matrix(j))) return true;
    }
  }
  return false;
}

// The contiguous ranges (runs) that an operand occupies in all products of the batch.
Runs runs_of(const OperandTable& table, const Operand& operand, std::uint64_t base) {
  Runs runs = runs_of(operand.view, base, operand.type);
  if (operand.is_matrix) runs.count = table.batch.count;
  // WHY: the stride of a batch of one, and the stride of empty matrices, are not used and may be
  // any number.
  runs.stride =
      runs.count < 2 || runs.is_empty() ? 0 : operand.product_stride * size_of(operand.type);
  return runs;
}

// The first product of a batch that shares an element with product 0; 0 if there is none. A run of
// product i begins i * stride bytes after the same run of product 0. It touches the run of product
// 0 that begins j * step bytes after the same run if i * stride and j * step differ by less than
// the length of a run.
std::int64_t first_that_touches(const Runs& product, std::int64_t count, std::int64_t stride) {
  if (count <= product.runs) {
    for (std::int64_t i = 1; i < count && i * stride < product.span(); ++i) {
      Runs other = product;
      other.base += static_cast<std::uint64_t>(i * stride);
      if (matrices_touch(product, other)) return i;
    }
    return 0;
  }
  // WHY a loop over runs and not over products: a batch may have 2^60 products.
  for (std::int64_t j = 0; j < product.runs; ++j) {
    const std::int64_t after = j * product.step - product.length;
    const std::int64_t i = after < 0 ? 1 : after / stride + 1;
    if (i >= count) return 0;
    if (i * stride < j * product.step + product.length) return i;
  }
  return 0;
}

}  // namespace

Status check_outputs_apart(const Problem& problem) {
  const Batch& batch = problem.batch;
  if (batch.kind != BatchKind::kStrided || batch.count < 2) return {};  // any stride
  for (const Operand& output : OperandTable(problem)) {
    if (output.use != Use::kWritten) continue;
    const Runs first = runs_of(output.view, 0, output.type);
    if (first.is_empty()) continue;
    const std::int64_t stride = output.product_stride * size_of(output.type);
    // Products i and j are as far apart as products 0 and j - i, so only product 0 is compared.
    const std::int64_t touching = stride == 0 ? 1 : first_that_touches(first, batch.count, stride);
    if (touching == 0) continue;
    const char letter = output.id == OperandId::kD ? 'd' : 'x';
    return Status::bad_argument(std::string("stride_") + letter + " is " +
                                std::to_string(output.product_stride) + ", but " +
                                std::string(output.name) + " of products 0 and " +
                                std::to_string(touching) + " must not share an element");
  }
  return {};
}

namespace {

// Whether D is C itself, element for element.
bool is_in_place(const OperandTable& table, const Operands& operands) {
  const Operand &c = table[OperandId::kC], &d = table[OperandId::kD];
  return operands.c == operands.d && c.ld == d.ld && c.type == d.type &&
         (table.batch.count <= 1 || c.product_stride == d.product_stride);
}

std::string rule_of(const OperandTable& table, const Operand& output, OperandId id) {
  if (table[id].use == Use::kWritten) return "two outputs must not overlap";
  if (id != OperandId::kC || output.id != OperandId::kD)
    return "the output must not overlap an input that is read";
  const bool is_strided = table.batch.kind == BatchKind::kStrided;
  return std::string("D must be C itself (same address, type, ldd = ldc") +
         (is_strided ? ", stride_d = stride_c" : "") + ") or apart from it";
}

}  // namespace

Status check_overlap(const OperandTable& table, const Operands& operands) {
  if (table.batch.kind == BatchKind::kPointers) return {};
  for (const Operand& output : table) {
    if (output.use != Use::kWritten) continue;
    const std::uint64_t at = operands[output.id];
    for (const Operand& other : table) {
      const bool is_later = other.use == Use::kWritten && other.id > output.id;
      if (other.use != Use::kRead && !is_later) continue;
      const std::uint64_t at_other = operands[other.id];
      if (!overlap(at, output.bytes, at_other, other.bytes)) continue;
      const bool is_c_of_d = output.id == OperandId::kD && other.id == OperandId::kC;
      if (is_c_of_d && is_in_place(table, operands)) continue;
      const Runs written = runs_of(table, output, at);
      if (!share_an_element(written, runs_of(table, other, at_other))) continue;
      const std::string name = (other.is_matrix ? "" : "the ") + std::string(other.name) +
                               (other.is_matrix ? "" : " of the epilogue");
      return Status::bad_argument(std::string(output.name) + " shares an element with " + name +
                                  ", but " + rule_of(table, output, other.id));
    }
  }
  return {};
}

}  // namespace tessera
