#include "problem/problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "base/elements.h"
#include "problem/operands.h"
#include "problem/overlap.h"

namespace tessera {
namespace {

constexpr std::array<std::pair<Order, std::string_view>, 2> kOrderNames{
    {{Order::kColumnMajor, "col"}, {Order::kRowMajor, "row"}}};

template <class Table>
auto parse_name(const Table& table, std::string_view argument, std::string_view name) {
  std::string accepted;
  for (const auto& [value, text] : table) {
    if (text == name) return value;
    accepted += (accepted.empty() ? "" : ", ") + std::string(text);
  }
  throw StatusError(Status::bad_argument(std::string(argument) + " is '" + std::string(name) +
                                         "', but must be one of: " + accepted));
}

template <class Table, class Value>
std::string_view text_of(const Table& table, Value value) {
  const auto at =
      std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.first == value; });
  return at->second;
}

// The view of a matrix in memory, before op: rows x cols with leading dimension ld.
MatrixView stored(Order order, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  return order == Order::kColumnMajor ? MatrixView{rows, cols, 1, ld}
                                      : MatrixView{rows, cols, ld, 1};
}

MatrixView transposed(MatrixView view) { return {view.cols, view.rows, view.col, view.row}; }

// The view of op(X), which is rows x cols. X is stored as cols x rows if op transposes it.
MatrixView operand_view(Order order, Op op, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  return op == Op::kNone ? stored(order, rows, cols, ld)
                         : transposed(stored(order, cols, rows, ld));
}

// A stored matrix as `count` lines of `length` contiguous elements each. Lines begin ld elements
// apart.
struct Lines {
  std::int64_t length, count;
};
Lines lines_of(Order order, Op op, std::int64_t rows, std::int64_t cols) {
  const bool contiguous_along_rows = (order == Order::kColumnMajor) == (op == Op::kNone);
  return contiguous_along_rows ? Lines{rows, cols} : Lines{cols, rows};
}

std::string text_of_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

struct LeadingDimension {
  std::string_view name, matrix;
  std::int64_t value;
  Lines lines;

  std::int64_t minimum() const { return std::max<std::int64_t>(1, lines.length); }
  // With at most one line, no address depends on the leading dimension.
  bool is_unused() const { return lines.count <= 1 || lines.length <= 0; }
};

std::array<LeadingDimension, 5> leading_dimensions(const Problem& p) {
  const Lines of_x = p.epilogue.writes_x() ? lines_of(p.order, Op::kNone, p.m, p.n) : Lines{0, 0};
  return {{{"lda", "A", p.lda, lines_of(p.order, p.op_a, p.m, p.k)},
           {"ldb", "B", p.ldb, lines_of(p.order, p.op_b, p.k, p.n)},
           {"ldc", "C", p.ldc, lines_of(p.order, Op::kNone, p.m, p.n)},
           {"ldd", "D", p.ldd, lines_of(p.order, Op::kNone, p.m, p.n)},
           {"ldx", "X", p.ldx, of_x}}};
}

// True if the offset in bytes of the last element of the last matrix fits 63 bits.
bool extent_fits(const MatrixView& view, std::int64_t count, std::int64_t stride,
                 int element_bytes) {
  if (view.rows == 0 || view.cols == 0 || count == 0) return true;
  const __int128 last = static_cast<__int128>(view.rows - 1) * view.row +
                        static_cast<__int128>(view.cols - 1) * view.col + 1;
  const __int128 first = static_cast<__int128>(count - 1) * stride;
  // WHY two comparisons and a division: the sum of `first` and `last`, in bytes, may exceed 128
  // bits.
  if (first > std::numeric_limits<std::int64_t>::max() ||
      last > std::numeric_limits<std::int64_t>::max()) {
    return false;
  }
  return first + last <= std::numeric_limits<std::int64_t>::max() / element_bytes;
}

Status check_sizes(const Problem& problem) {
  const std::pair<std::string_view, std::int64_t> sizes[] = {
      {"m", problem.m}, {"n", problem.n}, {"k", problem.k}};
  for (const auto& [name, value] : sizes) {
    if (value < 0) {
      return Status::bad_argument(std::string(name) + " is " + std::to_string(value) +
                                  ", but a size must be at least 0");
    }
  }
  return {};
}

Status check_leading_dimensions(const Problem& problem) {
  for (const auto& ld : leading_dimensions(problem)) {
    if (ld.matrix == "X" && !problem.epilogue.writes_x()) continue;
    if (ld.value < ld.minimum()) {
      return Status::bad_argument(
          std::string(ld.name) + " is " + std::to_string(ld.value) + ", but must be at least " +
          std::to_string(ld.minimum()) + " for this " + std::string(ld.matrix) + " (" +
          (problem.order == Order::kColumnMajor ? "rows of the stored column-major matrix)"
                                                : "columns of the stored row-major matrix)"));
    }
  }
  return {};
}

// Checks a batch of pointers. Only the kernel reads the addresses, so the host checks the alignment
// that the caller states: the alignment must be enough for an element of each type.
Status check_pointers(const Problem& problem) {
  if (problem.batch.kind != BatchKind::kPointers) return {};
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / kAddressBytes;
  if (problem.batch.count > most) {
    return Status::bad_argument("batch_count is " + std::to_string(problem.batch.count) +
                                ", but must be at most " + std::to_string(most) +
                                ": so many addresses end beyond the address space");
  }
  for (const Operand& one : OperandTable(problem)) {
    if (!one.is_matrix || problem.batch.alignment >= size_of(one.type)) continue;
    return Status::bad_argument("batch_alignment is " + std::to_string(problem.batch.alignment) +
                                ", but elements of type " + std::string(name_of(one.type)) +
                                " are " + std::to_string(size_of(one.type)) + " bytes");
  }
  return {};
}

Status check_rows_of_groups(const Problem& problem) {
  if (problem.batch.kind != BatchKind::kGroups) return {};
  std::int64_t left = problem.m;
  for (const std::int64_t rows : problem.batch.rows) {
    if (left < rows) left = -1;  // WHY no sum of the rows: it may exceed 63 bits
    if (left < 0) break;
    left -= rows;
  }
  if (left == 0) return {};
  return Status::bad_argument(
      "m is " + std::to_string(problem.m) + ", but the groups have " +
      (left < 0 ? "more rows" : std::to_string(problem.m - left) + " rows"));
}

Status check_extents(const Problem& problem) {
  const Batch& batch = problem.batch;
  for (const Operand& one : OperandTable(problem)) {
    if (!one.is_matrix) continue;
    if (extent_fits(one.view, batch.count, one.product_stride, size_of(one.type))) continue;
    const std::string field(1, static_cast<char>(one.name[0] - 'A' + 'a'));  // of A lda, stride_a
    std::string text = "matrix " + std::string(one.name) + " is " + std::to_string(one.view.rows) +
                       " x " + std::to_string(one.view.cols) + " with ld" + field + " " +
                       std::to_string(one.ld);
    if (batch.kind == BatchKind::kStrided || one.product_stride != 0) {
      text += ", batch_count " + std::to_string(batch.count) + " and stride_" + field + " " +
              std::to_string(one.product_stride);
    }
    return Status::bad_argument(text +
                                ", but its extent in bytes must fit a signed 64-bit integer");
  }
  return {};
}

}  // namespace

std::string_view name_of(Order order) { return text_of(kOrderNames, order); }
char name_of(Op op) { return op == Op::kNone ? 'N' : 'T'; }
Order parse_order(std::string_view name) { return parse_name(kOrderNames, "order", name); }

std::string layout_of(const Problem& problem) {
  return {name_of(problem.op_a), name_of(problem.op_b)};
}

void set_layout(Problem& problem, std::string_view layout) {
  const auto op = [&](char letter) {
    if (letter == 'N') return Op::kNone;
    if (letter == 'T') return Op::kTranspose;
    throw StatusError(Status::bad_argument("layout is '" + std::string(layout) +
                                           "', but must be one of: NN, NT, TN, TT"));
  };
  if (layout.size() != 2) op('\0');
  problem.op_a = op(layout[0]);
  problem.op_b = op(layout[1]);
}

MatrixView view_a(const Problem& p) { return operand_view(p.order, p.op_a, p.m, p.k, p.lda); }
MatrixView view_b(const Problem& p) { return operand_view(p.order, p.op_b, p.k, p.n, p.ldb); }
MatrixView view_c(const Problem& p) { return stored(p.order, p.m, p.n, p.ldc); }
MatrixView view_d(const Problem& p) { return stored(p.order, p.m, p.n, p.ldd); }
MatrixView view_x(const Problem& p) {
  return p.epilogue.writes_x() ? stored(p.order, p.m, p.n, p.ldx) : MatrixView{};
}

Problem with_default_ld(Problem problem) {
  const auto all = leading_dimensions(problem);
  std::int64_t* const fields[] = {&problem.lda, &problem.ldb, &problem.ldc, &problem.ldd,
                                  &problem.ldx};
  // WHY: an unused leading dimension may be any number, even if its size in bytes overflows.
  constexpr std::int64_t kMostUnused = std::int64_t{1} << 48;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_too_large = all[i].value > kMostUnused && all[i].is_unused();
    if (*fields[i] == 0 || is_too_large) *fields[i] = all[i].minimum();
  }
  if (!problem.epilogue.writes_x()) problem.ldx = 0;
  return problem;
}

Status check_factor(std::string_view name, double value, const Types& types) {
  const ElementType type = facts_of(types.compute).sum;
  const NumberKind kind = facts_of(type).kind;
  if (kind == NumberKind::kNone || (kind == NumberKind::kFloat && !std::isfinite(value))) return {};
  const double held = rounded_to(type, value);
  if (kind == NumberKind::kFloat ? std::isfinite(held) : held == value) return {};
  return Status::bad_argument(std::string(name) + " is " + text_of_number(value) + ", but " +
                              (kind == NumberKind::kFloat ? "a finite factor must stay finite in "
                                                          : "a factor must be a whole number of ") +
                              std::string(name_of(type)));
}

Status check(const Problem& problem) {
  Status status = check(problem.types);
  const auto then = [&](auto&& next) {
    if (status.ok()) status = next();
  };
  then([&] { return check_sizes(problem); });
  then([&] { return check_factor("alpha", problem.alpha, problem.types); });
  then([&] { return check_factor("beta", problem.beta, problem.types); });
  then([&] { return check_leading_dimensions(problem); });
  then([&] { return check(problem.batch); });
  then([&] { return check(problem.epilogue); });
  then([&] { return check(problem.scales); });
  then([&] { return check_pointers(problem); });
  then([&] { return check_rows_of_groups(problem); });
  then([&] { return check_extents(problem); });
  then([&] { return check_outputs_apart(problem); });
  return status;
}

MatrixView view_of(VectorKind kind, const Problem& p) {
  if (kind == VectorKind::kNone) return {};
  return {kind == VectorKind::kPerRow ? p.m : p.n, 1, 1, 1};
}

ElementType scale_type(const Types& types) { return facts_of(types.compute).sum; }
ElementType bias_type(const Types& types) { return types.d; }

Status check_supported(const Problem& problem) {
  const auto refused = [](const std::string& what) {
    return Status::unsupported("no kernel takes " + what + " yet");
  };
  const ElementType sum = facts_of(problem.types.compute).sum;
  if (!problem.epilogue.is_identity() && !is_float(sum)) {
    return refused("an epilogue (" + describe(problem.epilogue) + ") of sums in " +
                   std::string(name_of(sum)));
  }
  if (problem.epilogue.writes_x() && problem.batch.kind == BatchKind::kPointers) {
    return refused("an auxiliary output of " + describe(problem.batch));
  }
  if (!problem.scales.none()) return refused("scales (" + describe(problem.scales) + ")");
  return {};
}

Problem exchanged(Problem p) {
  const auto other = [](VectorKind kind) {
    if (kind == VectorKind::kNone) return kind;
    return kind == VectorKind::kPerRow ? VectorKind::kPerColumn : VectorKind::kPerRow;
  };
  p.order = p.order == Order::kRowMajor ? Order::kColumnMajor : Order::kRowMajor;
  std::swap(p.m, p.n);
  std::swap(p.op_a, p.op_b);
  std::swap(p.lda, p.ldb);
  std::swap(p.types.a, p.types.b);
  std::swap(p.batch.stride_a, p.batch.stride_b);
  std::swap(p.scales.a, p.scales.b);
  p.epilogue.scale = other(p.epilogue.scale);
  p.epilogue.bias = other(p.epilogue.bias);
  return p;
}

Problem row_major(const Problem& problem) {
  return problem.order == Order::kRowMajor ? problem : exchanged(problem);
}

Canonical canonical(const Problem& problem) {
  const Problem p = row_major(problem);
  const bool reads = reads_ab(p);
  return {.m = p.m,
          .n = p.n,
          .k = reads ? p.k : 0,
          .exchanged = problem.order == Order::kColumnMajor,
          .types = p.types,
          .a = view_a(p),
          .b = view_b(p),
          .c_row = p.ldc,
          .d_row = p.ldd,
          .alpha = reads ? p.alpha : 0,
          .beta = p.beta};
}

}  // namespace tessera
