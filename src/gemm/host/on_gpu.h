// Multiplies operands in host memory on the GPU: small problems as a whole, large ones by panels.
#pragma once

#include "gemm/call/multiply.h"
#include "gemm/host/staging.h"

namespace tessera::gemm::host {

// Not ok (kUnsupported) if the GPU does not multiply this problem from host memory, although it is
// legal: no kernel has its types, or a product does not fit the memory of the device.
Status check_gpu(const Problem& problem, const DeviceInfo& device);

// Throws kBadArgument if the stream is being captured.
void require_no_capture(const Device& device, void* stream);

// Waits for earlier work of the stream, multiplies, and returns when D is in host memory. Throws
// what multiply() throws. The caller must hold staging.mutex.
void multiply_from_host(Handle& handle, Staging& staging, const Problem& problem,
                        const Operands& operands, const PlanOptions& options, void* stream);

}  // namespace tessera::gemm::host
