// Operands that a caller packs, and calls that take packed operands.
#pragma once

#include "gemm/c_api/objects.h"
#include "gemm/call/pack.h"

namespace tessera::gemm::c_api {

// The packing that the handle's GPU uses for this operand of the problem.
Packing packing_of(const tessera_handle_s& owner, const Asked& asked, OperandId operand);

std::shared_ptr<tessera_packed_s> pack(const tessera_handle_s& owner, const Asked& asked,
                                       OperandId operand, const void* matrix, void* memory,
                                       std::size_t bytes, void* stream);

// The packed operands of a call. Address 0 means that an operand is not packed.
struct PackedArguments {
  PackedArgument a, b;

  PackedOperands operands() const { return {a.address != 0, b.address != 0}; }
};
// Throws if A or B is packed: calls with operands in host memory do not take packed operands.
void require_none(const PackedArguments& packed);
// Throws if an operand was packed for another shape, other types or another GPU.
PackedArguments packed_of(const tessera_handle_s& owner, const tessera_arguments& given,
                          const Problem& problem);

}  // namespace tessera::gemm::c_api
