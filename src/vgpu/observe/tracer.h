// Makes the observer that fills the AccessTrace of this thread.
#pragma once

#include <memory>

#include "vgpu/report/observer.h"

namespace tessera::vgpu {

// Returns null if this thread has no AccessTrace.
std::unique_ptr<LaunchObserver> tracer_of_this_thread();

}  // namespace tessera::vgpu
