// The arguments of a plan's execution: addresses, alpha and beta.
#pragma once

#include <cstddef>
#include <span>

#include "gemm/plan/plan.h"

namespace tessera::gemm {

// An operand as packed by gemm/call/pack.h.
struct PackedArgument {
  DeviceAddress address = 0;  // a multiple of 256
  std::int64_t bytes = 0;
};

struct Arguments {
  Operands operands;  // C may be null when beta is 0, A and B when they are not read
  double alpha = 1, beta = 0;
  DeviceAddress workspace = 0;
  std::int64_t workspace_bytes = 0;
  PackedArgument packed_a = {}, packed_b = {};  // only for plans with packed operands
};

// Not ok, with argument, value and rule, if the plan was not made for these operands: alpha or beta
// is zero and the plan's is not (or vice versa), an address has less than the planned alignment, a
// packed operand is missing or superfluous, or D shares memory with an operand that is read.
Status check_operands(const Plan& plan, const Arguments& arguments);
// Not ok where the workspace is too small, not aligned, or overlaps an operand.
Status check_workspace(const Plan& plan, const Arguments& arguments);
// Both, the operands first.
Status check(const Plan& plan, const Arguments& arguments);

// Whether two ranges of memory share a byte.
bool overlap(std::uint64_t a, std::uint64_t bytes_a, std::uint64_t b, std::uint64_t bytes_b);

// The arguments of one product of a batch, where the plan's launches are run for each.
Arguments of_round(const Plan& plan, const Arguments& of_batch, std::size_t product);

// 0 for an operand that is not read.
DeviceAddress address_of(const PlannedAddress& planned, const Arguments& arguments);

// Writes addresses and scales, but not tensor maps, into a copy of the launch's parameters.
void patch(const Step& launch, const Arguments& arguments, std::span<std::byte> params);

}  // namespace tessera::gemm
