// Runs all CTAs of one launch on the host's cores.
#pragma once

#include "vgpu/exec/cluster.h"
#include "vgpu/report/report.h"

namespace tessera::vgpu {

// Throws the Fault of the first CTA (by index) that has one.
LaunchReport run_launch(const LaunchContext& context, int host_threads);

}  // namespace tessera::vgpu
