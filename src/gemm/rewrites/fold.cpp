#include "gemm/rewrites/fold.h"

#include <algorithm>
#include <utility>

#include "problem/operands.h"

namespace tessera::gemm {
namespace {

Order other_order(Order order) {
  return order == Order::kRowMajor ? Order::kColumnMajor : Order::kRowMajor;
}
Op transposed(Op op) { return op == Op::kNone ? Op::kTranspose : Op::kNone; }

// The matrices of an operand, stacked to one matrix; empty if the rows of a matrix do not continue
// the rows of the previous matrix. For matrices of one row, `stride` becomes the row stride.
std::optional<MatrixView> stacked(const MatrixView& one, std::int64_t stride, std::int64_t count) {
  MatrixView all = one;
  if (__builtin_mul_overflow(one.rows, count, &all.rows)) return {};
  if (one.rows == 1) {
    all.row = stride;
    return all;
  }
  std::int64_t next = 0;
  if (__builtin_mul_overflow(one.rows, one.row, &next) || next != stride) return {};
  return all;
}

// A matrix described by an op and a leading dimension; empty if that is impossible.
struct Described {
  Op op;
  std::int64_t ld;
};
std::optional<Described> described(const MatrixView& all, Order order, Op preferred) {
  const auto as = [&](Op op) -> std::optional<Described> {
    const bool has_adjacent_columns = (order == Order::kRowMajor) == (op == Op::kNone);
    const std::int64_t between = has_adjacent_columns ? all.row : all.col;
    const std::int64_t inside = has_adjacent_columns ? all.col : all.row;
    const std::int64_t length = has_adjacent_columns ? all.cols : all.rows;
    if ((length > 1 && inside != 1) || between < std::max<std::int64_t>(length, 1)) return {};
    return Described{op, between};
  };
  if (const auto found = as(preferred)) return found;
  return as(transposed(preferred));
}

// Describes an operand of the folded product by an op and a leading dimension in `order`.
// False if that is impossible.
bool describe_in(Order order, const Problem& p, const std::optional<MatrixView>& all, Op op_of_p,
                 Op& op, std::int64_t& ld) {
  if (!all) return false;
  const Op preferred = order == p.order ? op_of_p : transposed(op_of_p);
  const auto found = described(*all, order, preferred);
  if (!found) return false;
  op = found->op;
  ld = found->ld;
  return true;
}

// Folds a batch whose products share B into one product in `order`. WHY try both orders: with one
// row per product, the rows of a column-major D are also those of a row-major matrix.
std::optional<Problem> folded_by_rows(const Problem& p, Order order) {
  const Batch& batch = p.batch;
  if (p.epilogue.scale == VectorKind::kPerRow || p.epilogue.bias == VectorKind::kPerRow) return {};
  Problem one = p;
  one.batch = {};
  one.order = order;
  one.m = p.m * batch.count;
  one.lda = one.ldb = one.ldc = 0;  // 0 for operands that are not read
  if (reads_ab(p)) {
    const auto all_a = stacked(view_a(p), batch.stride_a, batch.count);
    if (batch.stride_b != 0 || !describe_in(order, p, all_a, p.op_a, one.op_a, one.lda) ||
        !describe_in(order, p, view_b(p), p.op_b, one.op_b, one.ldb)) {
      return {};
    }
  }
  Op op = Op::kNone;  // C and D have no op
  const auto all_c = stacked(view_c(p), batch.stride_c, batch.count);
  const auto all_d = stacked(view_d(p), batch.stride_d, batch.count);
  if (p.beta != 0 && !describe_in(order, p, all_c, Op::kNone, op, one.ldc)) return {};
  if (op != Op::kNone) return {};
  if (!describe_in(order, p, all_d, Op::kNone, op, one.ldd) || op != Op::kNone) return {};
  one = with_default_ld(one);
  if (!check(one).ok()) return {};
  return one;
}

std::optional<Problem> folded_by_rows(const Problem& p) {
  if (auto one = folded_by_rows(p, p.order)) return one;
  return folded_by_rows(p, other_order(p.order));
}

}  // namespace

std::optional<Problem> folded(const Problem& problem) {
  const Batch& batch = problem.batch;
  if (batch.kind != BatchKind::kStrided || batch.count < 2) return {};
  if (problem.m == 0 || problem.n == 0 || !problem.scales.none()) return {};
  if (outputs_of(problem) > 1) return {};  // the layout of another output may differ
  if (auto by_rows = folded_by_rows(problem)) return by_rows;
  if (auto by_columns = folded_by_rows(exchanged(problem))) return exchanged(*by_columns);
  return {};
}

}  // namespace tessera::gemm
