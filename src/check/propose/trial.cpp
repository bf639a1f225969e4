#include "check/propose/trial.h"

#include <memory>

#include "check/runs/launching.h"
#include "vgpu/observe/reached_memory.h"

namespace tessera::checking {

Trial try_call(const CheckPlan& plan, double seconds) {
  Trial trial;
  const Watchdog watchdog(seconds);
  vgpu::ReachedMemory reached;
  vgpu::Observation observation;
  observation.reached = &reached;
  const std::unique_ptr<VirtualDevice> device =
      device_for(plan, watchdog, observation, plan.host_threads);
  const Placed placed = place(plan, *device);
  try {
    launch(plan, placed, *device);
    trial.finished = true;
  } catch (const LaunchFault& fault) {
    trial.fault = fault.finding().check;
    trial.message = fault.finding().message;
  }
  for (const HostArray& array : plan.arrays) {
    const auto* reach = reached.find(placed.arrays.at(array.name));
    if (reach != nullptr) trial.reach[array.name] = {reach->read, reach->written};
  }
  return trial;
}

}  // namespace tessera::checking
