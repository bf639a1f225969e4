#include "check/propose/trial.h"

#include <memory>

#include "check/runs/launching.h"
#include "vgpu/observe/reached_memory.h"

namespace tessera::checking {

Trial try_call(const CheckPlan& plan, std::uint64_t most_instructions, double seconds) {
  Trial trial;
  const Watchdog watchdog(seconds);
  vgpu::ReachedMemory reached;
  vgpu::Observation observation;
  observation.reached = &reached;
  observation.instruction_budget = most_instructions;
  const std::unique_ptr<VirtualDevice> device =
      device_for(plan, watchdog, observation, plan.host_threads);
  const Placed placed = place(plan, *device);
  try {
    launch(plan, placed, *device);
    trial.finished = true;
    trial.instructions = device->take_counts().at(0).warp_instructions;
  } catch (const LaunchFault& fault) {
    trial.fault = fault.finding().check;
    trial.message = fault.finding().message;
    if (trial.fault == "stopped") trial.instructions = most_instructions;
  }
  for (const HostArray& array : plan.arrays) {
    const auto* reach = reached.find(placed.arrays.at(array.name));
    if (reach != nullptr) trial.reach[array.name] = {reach->read, reach->written};
  }
  return trial;
}

}  // namespace tessera::checking
