// Multiplies operands in host memory on the CPU: by OpenBLAS if it can be loaded, else by our own
// loops. Types other than FP32 and FP64 are converted block by block, and summed in FP32 or INT32.
#pragma once

#include <string>

#include "problem/operands.h"

namespace tessera::gemm::host {

// What multiplies: "OpenBLAS 0.3.21", or our own loops.
std::string cpu_library();

// Not ok (kUnsupported) if the CPU does not multiply this problem, although it is legal.
Status check_cpu(const Problem& problem);

// D = alpha op(A) op(B) + beta C, for legal problems with leading dimensions that check_cpu()
// takes. Addresses are in host memory. TF32 operands keep all their bits.
void multiply_on_cpu(const Problem& problem, const Operands& operands);

}  // namespace tessera::gemm::host
