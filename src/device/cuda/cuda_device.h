// The cuda device behind the Device interface, and the one hook that its tests need.
#pragma once

#include <memory>

#include "device/device.h"

namespace tessera::cuda {

// The library that the driver is loaded from on every Linux machine.
inline constexpr const char* kDriverLibrary = "libcuda.so.1";

// The first visible GPU, through the driver in `library`. Its primary context is retained and made
// current in the calling thread, and the device is used from that thread. Throws kUnavailable.
std::unique_ptr<Device> make_device(const char* library);

}  // namespace tessera::cuda
