// Operands in host memory, multiplied by the GPU: small problems in one go, large ones by panels.
#pragma once

#include "gemm/call/multiply.h"
#include "gemm/host/staging.h"

namespace tessera::gemm::host {

// Not ok, kUnsupported, for a legal problem that the GPU does not multiply from host memory: no
// kernel has its types, or a product does not fit the memory of the device.
Status check_gpu(const Problem& problem, const DeviceInfo& device);

// Throws kBadArgument where the stream is captured.
void require_no_capture(const Device& device, void* stream);

// Returns when D is there. Work of the stream that came before is done first. Throws what
// multiply() throws. Expects the staging's mutex.
void multiply_from_host(Handle& handle, Staging& staging, const Problem& problem,
                        const Operands& operands, const PlanOptions& options, void* stream);

}  // namespace tessera::gemm::host
