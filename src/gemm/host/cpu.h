// Operands in host memory, multiplied by the CPU: OpenBLAS where it can be loaded, else our own
// loops. Other types than FP32 and FP64 are converted block by block, and summed in FP32.
#pragma once

#include <string>

#include "problem/operands.h"

namespace tessera::gemm::host {

// "OpenBLAS 0.3.21", or what multiplies instead of it.
std::string cpu_library();

// Not ok, kUnsupported, where the CPU does not multiply this problem: it is legal otherwise.
Status check_cpu(const Problem& problem);

// D = alpha op(A) op(B) + beta C, for legal problems that check_cpu() takes; leading dimensions are
// given. Addresses are of host memory. TF32 operands keep all their bits.
void multiply_on_cpu(const Problem& problem, const Operands& operands);

}  // namespace tessera::gemm::host
