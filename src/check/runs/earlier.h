// Simulates the launch before the checked launch. The earlier launch writes arrays and, with
// programmatic dependent launch, may still run when the checked kernel starts: accesses of this
// kernel to these arrays before griddepcontrol.wait come too early.
#pragma once

#include "check/values.h"
#include "device/virtual/virtual_device.h"
#include "vgpu/report/report.h"

namespace tessera::checking {

struct CheckPlan;

// Starts a launch that overwrites each array in plan.earlier with the array's present content.
void launch_ahead(const CheckPlan& plan, const Placed& placed, VirtualDevice& device);

// Explains in the findings which launch the earlier launch was.
void name_launch_ahead(vgpu::LaunchReport& report);

}  // namespace tessera::checking
