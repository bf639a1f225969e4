// The virtual GPU as one of another compute capability: of each image it runs the PTX that such a
// GPU would be given, the portable one where that is older than sm_90a.
#pragma once

#include <memory>

#include "device/device.h"

namespace tessera {

// `sm`: 75, 80, ...; loading an image without code for it throws kUnavailable.
std::unique_ptr<Device> make_virtual_gpu(int sm, const VirtualDeviceOptions& options = {});

}  // namespace tessera
