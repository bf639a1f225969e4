#include "lab/verify/runner.h"

#include <utility>

namespace tessera::lab {

DeviceBuffer::DeviceBuffer(Device& device, std::size_t bytes)
    : device_(&device), address_(device.allocate(bytes)), bytes_(bytes) {}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (!device_ || address_ == 0) return;
  try {
    device_->free(address_);
  } catch (const StatusError&) {
    // WHY: a destructor may not throw, and a device that failed has already said so.
  }
}

Runner::Runner(Device& device, const KernelChoice& choice, const Problem& problem,
               const PlanOptions& options)
    : device_(device),
      kernel_(*choice.kernel),
      variant_(choice.variant),
      problem_(problem),
      options_(options) {
  const PlanContext context{.multiprocessors = device_.info().multiprocessors, .options = options_};
  row_ = &row_for(kernel_, variant_, problem_, {}, context);
  require(supports(kernel_, *row_, problem_));
  image_ = device_.load(image_of(kernel_));
  workspace_ = DeviceBuffer(device_, kernel_.workspace_bytes(*row_, problem_, context));
}

Plan Runner::plan(const Operands& operands) const {
  const PlanContext context{device_.info().multiprocessors, workspace_.address(), workspace_bytes(),
                            options_};
  return kernel_.plan(row_for(kernel_, variant_, problem_, operands, context), problem_, operands,
                      context);
}

void Runner::run(const Plan& plan, const Stop& stop) {
  for (const Launch& launch : plan.launches) {
    if (stop && stop()) throw Stopped();
    device_.launch(image_, launch);
  }
}

}  // namespace tessera::lab
