#include "gemm/steps/widen.h"

#include <algorithm>
#include <cstddef>

#include "base/divide.h"
#include "kernels/passes/widen_params.h"

namespace tessera::gemm {
namespace {

using passes::WidenParams;

// The elements from line to line of a copy: a multiple of 4 or, for long lines, whole lines
// of 128 bytes. WHY not for short lines: the copy of a vector with one element in each line
// would be 32 times as large.
std::int64_t line_of_copy(std::int64_t length) {
  constexpr std::int64_t kVector = 4, kLine = 32;
  if (length < kVector) return length;
  return round_up(length, length < kVector * kLine ? kVector : kLine);
}

}  // namespace

WidenedOperand widened_operand(const Problem& problem, OperandId id) {
  const Operand operand = OperandTable(problem)[id];
  const MatrixView& view = operand.view;
  const Batch& batch = problem.batch;
  const Op op = id == OperandId::kA ? problem.op_a : problem.op_b;
  // WHY not by strides: if each line has one element, both strides are 1.
  const bool has_lines_of_rows = (problem.order == Order::kRowMajor) == (op == Op::kNone);
  WidenedOperand out{};
  out.lines = has_lines_of_rows ? view.rows : view.cols;
  out.length = has_lines_of_rows ? view.cols : view.rows;
  out.from_line = has_lines_of_rows ? view.row : view.col;
  out.is_list = batch.kind == BatchKind::kPointers;
  out.from_product = batch.kind == BatchKind::kStrided ? operand.product_stride : 0;
  out.products = out.is_list || out.from_product != 0 ? batch.count : 1;
  out.to_line = line_of_copy(out.length);
  out.to_product = round_up(out.to_line * out.lines, std::int64_t{4});
  return out;
}

Status check_extent(const WidenedOperand& operand) {
  const __int128 elements = static_cast<__int128>(operand.to_line) * operand.lines;
  constexpr __int128 kMost = __int128{1} << 60;
  if (elements <= kMost && (elements + 4) * operand.products <= kMost) return {};
  return Status::unsupported(
      "an operand of BF16 is converted to FP32 in the workspace, but it has more than 2^60 "
      "elements");
}

std::int64_t bytes_of(const WidenedOperand& operand) {
  return operand.products * operand.to_product * size_of(ElementType::kF32);
}

Step widen_step(const WidenedOperand& operand, const DeviceLimits& limits) {
  const WidenParams params{.from = nullptr,
                           .to = nullptr,
                           .addresses = nullptr,
                           .lines = operand.lines,
                           .length = operand.length,
                           .from_line = operand.from_line,
                           .to_line = operand.to_line,
                           .from_product = operand.from_product,
                           .to_product = operand.to_product,
                           .products = operand.products};
  const std::int64_t eights = operand.lines *
                              ceil_div(operand.length, std::int64_t{passes::kWidenTogether}) *
                              operand.products;
  const std::int64_t most = std::int64_t{8} * passes::kWidenCtasPerSm * limits.sms;
  Step step = step_of(Pass::kWiden, widen_kernel().helpers.front().entry,
                      {.grid = std::clamp<std::int64_t>(
                           ceil_div(eights, std::int64_t{passes::kWidenThreads}), 1, most),
                       .block = passes::kWidenThreads},
                      params);
  step.addresses.push_back({offsetof(WidenParams, from), operand.from});
  step.addresses.push_back({offsetof(WidenParams, to), operand.to, Use::kWritten});
  if (operand.is_list) {
    step.addresses.push_back({offsetof(WidenParams, addresses), operand.addresses, Use::kWritten});
  }
  return step;
}

}  // namespace tessera::gemm
