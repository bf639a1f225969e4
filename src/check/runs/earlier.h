// Simulates the launch before the one that is checked. It writes arrays, and by programmatic
// dependent launch it may still run: accesses of the kernel to these arrays before
// griddepcontrol.wait come too early.
#pragma once

#include "check/values.h"
#include "device/virtual/virtual_device.h"
#include "vgpu/report/report.h"

namespace tessera::checking {

struct CheckPlan;

// Starts a launch that stores the present content of the arrays in plan.earlier to the same places.
void launch_ahead(const CheckPlan& plan, const Placed& placed, VirtualDevice& device);

// Explains in the findings which launch the earlier one was.
void name_launch_ahead(vgpu::LaunchReport& report);

}  // namespace tessera::checking
