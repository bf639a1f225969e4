// Operands in host memory, multiplied by the GPU. A and B come in panels of rows of op(A) and
// columns of op(B); as soon as the next ones are there, all of D that they make possible is
// multiplied, while further panels are on their way in and finished parts of D on their way out.
#pragma once

#include "gemm/multiply.h"

namespace tessera::gemm::host {

// Not ok, kUnsupported, for a problem that is legal but not multiplied by panels: a batch, or
// operands and result that do not fit the memory of the device.
Status check_panels(const Problem& problem, const DeviceInfo& device);

// Returns when D is there. Work of the stream that came before is done first. Throws what
// multiply() throws; nothing is copied before all device memory is there. The stream must not be
// captured. Safe to use from several threads.
void multiply_by_panels(Handle& handle, const Problem& problem, const Operands& operands,
                        const PlanOptions& options, void* stream);

}  // namespace tessera::gemm::host
