// The observers of a launch: one for each kind of observation that its Observation requests.
#pragma once

#include <memory>

#include "vgpu/report/observer.h"

namespace tessera::vgpu {

struct LaunchContext;

// defined in count/, in check/ and in this folder
std::unique_ptr<LaunchObserver> make_memory_counter(const LaunchContext& context);
std::unique_ptr<LaunchObserver> make_write_recorder(const LaunchContext& context);
std::unique_ptr<LaunchObserver> make_reach_recorder(const LaunchContext& context);
std::unique_ptr<LaunchObserver> make_checker(const LaunchContext& context);

// Makes the requested observers, and the tracer of this thread; null if there are none.
std::unique_ptr<LaunchObserver> observers_of(const LaunchContext& context);

}  // namespace tessera::vgpu
