// The observer that fills this thread's AccessTrace.
#pragma once

#include <memory>

#include "vgpu/report/observer.h"

namespace tessera::vgpu {

// Null where this thread traces nothing.
std::unique_ptr<LaunchObserver> tracer_of_this_thread();

}  // namespace tessera::vgpu
