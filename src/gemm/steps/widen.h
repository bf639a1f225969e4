// The step before a product that converts a BF16 operand to FP32, into a temp.
#pragma once

#include "gemm/steps/subproblem.h"

namespace tessera::gemm {

// The lines of adjacent elements of one matrix, or of all matrices of a batch.
struct WidenedOperand {
  std::int64_t lines, length, products;
  std::int64_t from_line, from_product;  // elements from line to line, from product to product
  std::int64_t to_line, to_product;      // like from_line and from_product, in the copy
  bool is_list;                          // `from` and `addresses` are lists of addresses
  PlannedAddress from = {}, to = {}, addresses = {};
};

// The lines of A or B, without addresses. If products share the operand, they share its copy.
WidenedOperand widened_operand(const Problem& problem, OperandId id);
// Not ok if the copies have more than 2^60 elements.
Status check_extent(const WidenedOperand& operand);
std::int64_t bytes_of(const WidenedOperand& operand);
Step widen_step(const WidenedOperand& operand, const DeviceLimits& limits);

}  // namespace tessera::gemm
