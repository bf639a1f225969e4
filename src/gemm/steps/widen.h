// The step before a product that converts a BF16 operand to FP32, into a temp.
#pragma once

#include "gemm/steps/subproblem.h"

namespace tessera::gemm {

// Lines of adjacent elements, one matrix or as many as a batch has.
struct WidenedOperand {
  std::int64_t lines, length, products;
  std::int64_t from_line, from_product;  // elements from line to line, from product to product
  std::int64_t to_line, to_product;      // the same of the copies
  bool is_list;                          // `from` holds addresses, and so does `addresses`
  PlannedAddress from = {}, to = {}, addresses = {};
};

// The extents of A or B, without addresses. Products that share it share its copy, too.
WidenedOperand widened_operand(const Problem& problem, OperandId id);
// Not ok where the copies have more than 2^60 elements.
Status check_extent(const WidenedOperand& operand);
std::int64_t bytes_of(const WidenedOperand& operand);
Step widen_step(const WidenedOperand& operand, const DeviceLimits& limits);

}  // namespace tessera::gemm
