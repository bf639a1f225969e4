#include "gemm/host/on_gpu.h"

#include "gemm/host/batch.h"
#include "gemm/host/panels.h"
#include "gemm/host/whole.h"

namespace tessera::gemm::host {

Status check_gpu(const Problem& problem, const DeviceInfo& device) {
  if (Status status = check_supported(problem); !status.ok()) return status;
  if (problem.epilogue.is_identity()) {
    if (Status status = check_has_kernel(problem.types); !status.ok()) return status;
  }
  return check_panels(product_of(problem), device);
}

void require_no_capture(const Device& device, void* stream) {
  if (!device.is_capturing(stream)) return;
  throw StatusError(Status::bad_argument(
      "stream is captured, but operands in host memory are copied while the call waits"));
}

void multiply_from_host(Handle& handle, Staging& staging, const Problem& problem,
                        const Operands& operands, const PlanOptions& options, void* stream) {
  if (problem.m == 0 || problem.n == 0) return;
  require(check_gpu(problem, handle.device().info()));
  require_no_capture(handle.device(), stream);
  if (fits_whole(problem)) {
    return multiply_whole(handle, staging, problem, operands, options, stream);
  }
  const Problem one = product_of(problem);
  for (std::int64_t i = 0; i < problem.batch.count; ++i) {
    multiply_by_panels(handle, staging, one, operands_at(problem, operands, i), options, stream);
  }
}

}  // namespace tessera::gemm::host
