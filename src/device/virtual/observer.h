// Observations of the virtual GPU: counts of every launch, and findings of its checks. This is the
// fourth part of the device interface; a real GPU has none. Code that includes this header links
// the virtual GPU.
#pragma once

#include <utility>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "vgpu/report/observation.h"
#include "vgpu/report/report.h"
#include "vgpu/report/signature.h"

namespace tessera {

// The virtual GPU's counts of one launch, and of one instruction in it. Tagged exact: they are of
// the PTX.
using LaunchCounts = vgpu::LaunchReport;
using InstructionCount = vgpu::InstructionReport;

// A launch that ended by a fault of the kernel, as a finding of the check that failed: out of
// bounds, deadlock, ...
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
  // Whether all of these bytes were written, after launches that were checked.
  virtual bool is_written(DeviceAddress address, std::size_t bytes) const = 0;
  // The entries of a loaded image and their parameters.
  virtual std::vector<vgpu::KernelSignature> kernels(const LoadedImage& image) const = 0;
  // The variables of a loaded image, and their addresses on this device.
  virtual std::vector<vgpu::ModuleVariable> variables(const LoadedImage& image) const = 0;
};

// The observer of a device; null on a real GPU.
Observer* observer_of(Device& device);
// The same calls for any device: no counts and nothing to watch on a real GPU.
std::vector<LaunchCounts> take_counts(Device& device);
void observe(Device& device, const vgpu::Observation& observation);

}  // namespace tessera
