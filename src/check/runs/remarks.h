// What a finished run left in its arrays that no rule forbids and few mean: elements that nobody
// wrote, NaNs that no argument brought.
#pragma once

#include <string>
#include <vector>

#include "check/runs/run.h"
#include "check/values.h"
#include "device/virtual/virtual_device.h"

namespace tessera::checking {

struct Remarks {
  std::vector<std::string> notes;      // one sentence each
  std::vector<std::string> unwritten;  // "3 of 32 elements of array out"
};

// The device has run a launch under checks.
Remarks remarks_on(const CheckPlan& plan, const Placed& placed,
                   const std::vector<HostArray>& results, const VirtualDevice& device);

}  // namespace tessera::checking
