// Runs all CTAs of a launch on the host's cores.
#pragma once

#include <memory>

#include "vgpu/exec/cluster.h"
#include "vgpu/report/observer.h"
#include "vgpu/report/report.h"

namespace tessera::vgpu {

// Makes the observer of the launch; null if nothing is observed.
using MakeObserver = std::unique_ptr<LaunchObserver> (*)(const LaunchContext& context);

// If CTAs fault, throws the Fault of the one with the lowest index.
LaunchReport run_launch(const LaunchContext& context, MakeObserver make_observer, int host_threads);

}  // namespace tessera::vgpu
