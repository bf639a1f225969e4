// What a finished run left in its arrays that no rule forbids and few mean: elements that nobody
// wrote, NaNs that no argument brought.
#pragma once

#include <string>
#include <vector>

#include "check/run.h"
#include "check/values.h"
#include "device/virtual/virtual_device.h"

namespace tessera::checking {

// One sentence each. The device has run a launch under checks.
std::vector<std::string> remarks_on(const CheckPlan& plan, const Placed& placed,
                                    const std::vector<HostArray>& results,
                                    const VirtualDevice& device);

}  // namespace tessera::checking
