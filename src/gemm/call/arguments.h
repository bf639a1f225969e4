// The arguments of a plan's execution: addresses, alpha and beta.
#pragma once

#include <cstddef>
#include <span>

#include "gemm/plan/plan.h"

namespace tessera::gemm {

// A packed operand in device memory, as pack() in gemm/call/pack.h writes it.
struct PackedArgument {
  DeviceAddress address = 0;  // a multiple of 256 bytes; 0: there is no packed operand
  std::int64_t bytes = 0;
};

struct Arguments {
  Operands operands;  // the address of an operand that the plan does not read may be 0
  double alpha = 1, beta = 0;
  DeviceAddress workspace = 0;
  std::int64_t workspace_bytes = 0;
  PackedArgument packed_a = {}, packed_b = {};  // set only if the plan has packed operands
};

// Returns an error that names the argument, its value and the rule if: alpha or beta is zero and
// the plan is for a nonzero value, or vice versa; an address is not aligned as planned; a packed
// operand is missing or superfluous; or D overlaps an operand that is read (see check_overlap()).
Status check_operands(const Plan& plan, const Arguments& arguments);
// Returns an error if the workspace is too small, not aligned, or overlaps an operand.
Status check_workspace(const Plan& plan, const Arguments& arguments);
// Returns the first error of check_operands() and then check_workspace().
Status check(const Plan& plan, const Arguments& arguments);

// The arguments of product number `product` of a batch, if the plan launches products one by one.
Arguments of_round(const Plan& plan, const Arguments& of_batch, std::size_t product);

// The address of the planned slot in `arguments` plus the planned offset; 0 if that address is 0.
DeviceAddress address_of(const PlannedAddress& planned, const Arguments& arguments);

// Writes addresses, alpha and beta, but no tensor maps, into `params`: a copy of launch.params.
void patch(const Step& launch, const Arguments& arguments, std::span<std::byte> params);

}  // namespace tessera::gemm
