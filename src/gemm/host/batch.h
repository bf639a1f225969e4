// The products of a batch in host memory, one by one.
#pragma once

#include "problem/operands.h"

namespace tessera::gemm::host {

// One product of a batched problem, as a problem of its own.
Problem product_of(Problem problem);
// The operands of product i; for a batch of pointers, taken from the lists in host memory.
Operands operands_at(const Problem& problem, const Operands& operands, std::int64_t i);

}  // namespace tessera::gemm::host
