#include "device/virtual/observer.h"

namespace tessera {

Observer* observer_of(Device& device) { return dynamic_cast<Observer*>(&device); }

std::vector<LaunchCounts> take_counts(Device& device) {
  Observer* const observer = observer_of(device);
  return observer ? observer->take_counts() : std::vector<LaunchCounts>{};
}

void observe(Device& device, const vgpu::Observation& observation) {
  if (Observer* const observer = observer_of(device)) observer->observe(observation);
}

}  // namespace tessera
