// The products of a batch in host memory, one by one.
#pragma once

#include "problem/operands.h"

namespace tessera::gemm::host {

// A product of the problem as a problem of its own.
Problem product_of(Problem problem);
// Where product i begins; of a batch of pointers, by the lists in host memory.
Operands operands_at(const Problem& problem, const Operands& operands, std::int64_t i);

}  // namespace tessera::gemm::host
