#include "gemm/host/on_gpu.h"

#include "gemm/host/batch.h"
#include "gemm/host/panels.h"
#include "gemm/host/whole.h"
#include "gemm/rewrites/finish_later.h"
#include "gemm/rewrites/widen.h"

namespace tessera::gemm::host {

namespace {

// Device buffers up to this size stay allocated for the next call; larger ones are freed.
constexpr std::size_t kMostKept = std::size_t{256} << 20;  // bytes of one operand

// Whether there are kernels for a product of the problem, and a launch for the epilogue.
Status check_kernels(const Problem& one) {
  if (Status status = check_supported(one); !status.ok()) return status;
  if (one.epilogue.is_identity()) return check_multiplied(one.types);
  if (Status status = check_sums(one); !status.ok()) return status;
  return check_multiplied(problem_of_sums(one).types);
}

void multiply_products(Handle& handle, Staging& staging, const Problem& problem,
                       const Operands& operands, const PlanOptions& options, void* stream) {
  const Problem one = product_of(problem);
  for (std::int64_t i = 0; i < problem.batch.count; ++i) {
    try {
      multiply_by_panels(handle, staging, one, operands_at(problem, operands, i), options, stream);
    } catch (const std::exception& error) {
      // WHY kFailed: any other status means that nothing was written.
      if (i > 0) throw StatusError(Status::failed(error.what()));
      throw;
    }
  }
}

}  // namespace

Status check_gpu(const Problem& problem, const DeviceInfo& device) {
  const Problem one = product_of(problem);
  if (Status status = check_kernels(one); !status.ok()) return status;
  if (outputs_of(one) > 1) {
    return Status::unsupported(
        "operands are in host memory, from where the GPU copies back D and "
        "no other output yet");
  }
  return check_panels(one, device);
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
  multiply_products(handle, staging, problem, operands, options, stream);
  staging.release_above(kMostKept);
}

}  // namespace tessera::gemm::host
