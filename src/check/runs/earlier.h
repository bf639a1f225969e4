// The launch ahead of the one that is checked: it writes arrays, and by programmatic dependent
// launch it may still run. What the kernel does with these before griddepcontrol.wait comes too
// early.
#pragma once

#include "check/values.h"
#include "device/virtual/virtual_device.h"
#include "vgpu/report/report.h"

namespace tessera::checking {

struct CheckPlan;

// Writes the arrays of plan.earlier by a launch of its own, what they hold to where it is.
void launch_ahead(const CheckPlan& plan, const Placed& placed, VirtualDevice& device);

// Explains in findings which launch the earlier one was.
void name_launch_ahead(vgpu::LaunchReport& report);

}  // namespace tessera::checking
