// Tensor maps and textures of arguments: the whole of an array, a box of it, a swizzle.
#pragma once

#include <vector>

#include "check/arrays.h"
#include "check/values.h"
#include "device/device.h"

namespace tessera::checking {

// The 128 bytes of a TensorMapArgument on this device. Throws kBadArgument naming the argument and
// the rule that its box, swizzle or array breaks.
std::vector<std::byte> encode_map(const Argument& argument, const std::vector<HostArray>& arrays,
                                  const Placed& placed, Device& device);

// The bytes that the handle of a TextureArgument points to. Throws likewise.
std::vector<std::byte> encode_texture(const Argument& argument,
                                      const std::vector<HostArray>& arrays, const Placed& placed);

}  // namespace tessera::checking
