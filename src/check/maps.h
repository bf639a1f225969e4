// Encodes the tensor maps and textures that arguments describe.
#pragma once

#include <vector>

#include "check/arrays.h"
#include "check/values.h"
#include "device/device.h"

namespace tessera::checking {

// Returns the 128 bytes of a TensorMapArgument on this device. Throws a kBadArgument that names the
// argument and the rule that its box, swizzle or array breaks.
std::vector<std::byte> encode_map(const Argument& argument, const std::vector<HostArray>& arrays,
                                  const Placed& placed, Device& device);

// Returns the bytes that the handle of a TextureArgument points to. Throws like encode_map.
std::vector<std::byte> encode_texture(const Argument& argument,
                                      const std::vector<HostArray>& arrays, const Placed& placed);

}  // namespace tessera::checking
