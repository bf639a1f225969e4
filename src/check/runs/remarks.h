// Remarks on the contents of arrays after a run that break no rule, but are rarely intended:
// unwritten elements, and NaNs that came from no argument.
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

// The device must have run the launch under checks.
Remarks remarks_on(const CheckPlan& plan, const Placed& placed,
                   const std::vector<HostArray>& results, const VirtualDevice& device);

}  // namespace tessera::checking
