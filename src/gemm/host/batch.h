// The products of a batch in host memory, one by one.
#pragma once

#include "problem/operands.h"

namespace tessera::gemm::host {

// The problem of a single product of a batch.
Problem product_of(Problem problem);
// The operands of product i. For a batch of pointers, the lists are read from host memory.
Operands operands_at(const Problem& problem, const Operands& operands, std::int64_t i);

}  // namespace tessera::gemm::host
