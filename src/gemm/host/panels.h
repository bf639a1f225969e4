// Multiplies operands in host memory on the GPU, by panels: rows of op(A) and columns of op(B).
// When the next panels have arrived, the parts of D that they complete are computed, while further
// panels and finished parts of D are copied.
#pragma once

#include "gemm/call/multiply.h"
#include "gemm/host/staging.h"

namespace tessera::gemm::host {

// Not ok (kUnsupported) if A, B, C and D of one product do not fit the memory of the
// device.
Status check_panels(const Problem& problem, const DeviceInfo& device);

// Does what multiply_from_host() does, for one product that is not empty. Nothing is copied before
// all device memory is allocated.
void multiply_by_panels(Handle& handle, Staging& staging, const Problem& problem,
                        const Operands& operands, const PlanOptions& options, void* stream);

}  // namespace tessera::gemm::host
