// Small problems whose operands are in host memory, multiplied by the GPU: all operands are copied,
// multiplied and copied back on one stream. A batch is processed in groups of products.
#pragma once

#include "gemm/call/multiply.h"
#include "gemm/host/staging.h"

namespace tessera::gemm::host {

// Whether one product of the problem is small enough.
bool fits_whole(const Problem& problem);

// The contract of multiply_from_host(), for a problem that is not empty.
void multiply_whole(Handle& handle, Staging& staging, const Problem& problem,
                    const Operands& operands, const PlanOptions& options, void* stream);

}  // namespace tessera::gemm::host
