// Runs all CTAs of one launch on the host's cores.
#pragma once

#include <memory>

#include "vgpu/exec/cluster.h"
#include "vgpu/report/observer.h"
#include "vgpu/report/report.h"

namespace tessera::vgpu {

// Makes what sees the launch; null where nothing does.
using MakeObserver = std::unique_ptr<LaunchObserver> (*)(const LaunchContext& context);

// Throws the Fault of the first CTA (by index) that has one.
LaunchReport run_launch(const LaunchContext& context, MakeObserver make_observer, int host_threads);

}  // namespace tessera::vgpu
