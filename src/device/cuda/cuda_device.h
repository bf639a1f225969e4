// Real GPUs behind the Device interface. A device works in one context and loads modules into it.
// Any thread may use it, with any context current.
#pragma once

#include <memory>
#include <vector>

#include "device/device.h"

namespace tessera {

// A GPU, by its number among those that the driver reports. The device retains the primary context,
// makes it current in the calling thread, and has a stream for calls without a stream. Throws
// kUnavailable, with one sentence about what is missing, or kBadArgument if there is no GPU with
// this number.
std::unique_ptr<Device> make_cuda_device(int index = 0);

// A device in the context that is current in the calling thread; the caller must keep the context
// as long as the device. A null stream means CUDA's own null stream. Throws kBadArgument if no
// context is current.
std::unique_ptr<Device> make_cuda_device_in_context();

// Facts of every GPU that the driver shows, without a context. Throws kUnavailable where there is
// no driver or no GPU.
std::vector<DeviceInfo> list_cuda_devices();

}  // namespace tessera

// For tests: devices through the driver in another library.
namespace tessera::cuda {

// The driver library on every Linux machine.
inline constexpr const char* kDriverLibrary = "libcuda.so.1";

std::unique_ptr<Device> make_device(const char* library, int index = 0);
std::unique_ptr<Device> make_device_in_context(const char* library);

}  // namespace tessera::cuda
