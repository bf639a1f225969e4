// Observations of the virtual GPU: counts of every launch, and findings of its checks. This is the
// fifth part of the device interface; a real GPU has no observer. Code that includes this header
// links the virtual GPU.
#pragma once

#include <utility>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "vgpu/report/observation.h"
#include "vgpu/report/report.h"
#include "vgpu/report/signature.h"

namespace tessera {

// The virtual GPU's counts of one launch, and of one instruction in it. The counts are tagged
// exact, because they count PTX instructions.
using LaunchCounts = vgpu::LaunchReport;
using InstructionCount = vgpu::InstructionReport;

// Is thrown for a launch that a fault of the kernel ended: out of bounds, deadlock, ... The
// exception holds the finding of the check that failed.
class LaunchFault : public StatusError {
 public:
  LaunchFault(Status status, vgpu::Finding finding, std::vector<vgpu::Finding> before = {})
      : StatusError(std::move(status)), finding_(std::move(finding)), before_(std::move(before)) {}
  const vgpu::Finding& finding() const { return finding_; }
  // Earlier findings of the checks, which often explain the fault.
  const std::vector<vgpu::Finding>& before() const { return before_; }

 private:
  vgpu::Finding finding_;
  std::vector<vgpu::Finding> before_;
};

class Observer {
 public:
  virtual ~Observer() = default;
  // Counts of every launch since the last call, in launch order.
  virtual std::vector<LaunchCounts> take_counts() = 0;
  // Sets what is observed in the launches that follow.
  virtual void observe(const vgpu::Observation& observation) = 0;
  // Whether all of these bytes have been written. Expects that earlier launches were checked.
  virtual bool is_written(DeviceAddress address, std::size_t bytes) const = 0;
  // The entries of a loaded image and their parameters.
  virtual std::vector<vgpu::KernelSignature> kernels(const LoadedImage& image) const = 0;
  // The variables of a loaded image, and their addresses on this device.
  virtual std::vector<vgpu::ModuleVariable> variables(const LoadedImage& image) const = 0;
};

// The observer of a device; null on a real GPU.
Observer* observer_of(Device& device);
// take_counts() and observe() for any device. On a real GPU there are no counts, and observe() does
// nothing.
std::vector<LaunchCounts> take_counts(Device& device);
void observe(Device& device, const vgpu::Observation& observation);

}  // namespace tessera
