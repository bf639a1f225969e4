// Prepares and launches a kernel on a virtual GPU of its own: memory, launch, results.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/status.h"
#include "check/runs/run.h"
#include "device/virtual/virtual_device.h"

namespace tessera::checking {

// Joins the lines of a message into one: "... is not implemented at PTX line 5: ...".
std::string one_sentence(const std::string& message);

// Runs f and turns its errors into kBadArgument. WHY: an error that keeps a kernel from starting is
// an error of the call, not of the kernel.
template <class F>
auto as_bad_argument(F f) {
  try {
    return f();
  } catch (const LaunchFault&) {
    throw;
  } catch (const StatusError& error) {
    throw StatusError(Status::bad_argument(one_sentence(error.status().message)));
  }
}

// Ends a run on Ctrl-C, or if it exceeds its time limit.
class Watchdog {
 public:
  explicit Watchdog(double seconds)
      : thread_([this, seconds](const std::stop_token& done) { watch(done, seconds); }) {}

  const std::atomic<bool>* stop() const { return &stop_; }

 private:
  void watch(const std::stop_token& done, double seconds);

  std::atomic<bool> stop_ = false;
  std::jthread thread_;
};

CodeImage image_of(const Code& code);
std::unique_ptr<VirtualDevice> device_for(const CheckPlan& plan, const Watchdog& watchdog,
                                          vgpu::Observation observation, int host_threads);
// Places the arrays, with their contents before the run, and tensor maps on the device.
Placed place(const CheckPlan& plan, Device& device);
// Throws LaunchFault for errors of the kernel, kBadArgument for errors of the call.
void launch(const CheckPlan& plan, const Placed& placed, VirtualDevice& device);
std::vector<HostArray> results_of(const CheckPlan& plan, const Placed& placed, Device& device);

}  // namespace tessera::checking
