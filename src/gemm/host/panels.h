// Operands in host memory, multiplied by the GPU. A and B are copied in panels of rows of op(A) and
// columns of op(B). As soon as the next panels have arrived, the parts of D that they complete are
// multiplied, while further panels and finished parts of D are being copied.
#pragma once

#include "gemm/call/multiply.h"
#include "gemm/host/staging.h"

namespace tessera::gemm::host {

// Not ok (kUnsupported) when the operands and the result of one product do not fit the memory of
// the device.
Status check_panels(const Problem& problem, const DeviceInfo& device);

// The contract of multiply_from_host(), for one product that is not empty. Nothing is copied before
// all device memory is there.
void multiply_by_panels(Handle& handle, Staging& staging, const Problem& problem,
                        const Operands& operands, const PlanOptions& options, void* stream);

}  // namespace tessera::gemm::host
