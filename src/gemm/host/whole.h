// Multiplies operands of small problems in host memory on the GPU: all operands are copied,
// multiplied and copied back on one stream. A batch is processed in groups of products.
#pragma once

#include "gemm/call/multiply.h"
#include "gemm/host/staging.h"

namespace tessera::gemm::host {

// Whether one product of the problem is small enough for multiply_whole().
bool fits_whole(const Problem& problem);

// Does what multiply_from_host() does, for a problem that is not empty.
void multiply_whole(Handle& handle, Staging& staging, const Problem& problem,
                    const Operands& operands, const PlanOptions& options, void* stream);

}  // namespace tessera::gemm::host
