// Texture objects for kernels of the virtual GPU. A texture object is a block of bytes that the
// caller puts into the GPU's memory; the address of the block is the 64-bit handle.
#pragma once

#include <cstddef>
#include <vector>

#include "base/types.h"
#include "device/device.h"

namespace tessera {

enum class TextureOutside { kClamp, kBorder, kWrap, kMirror };

struct TextureDesc {
  ElementType type = ElementType::kF32;
  int channels = 1;                   // 1, 2 or 4
  std::vector<std::int64_t> extents;  // texels, innermost first: one to three
  DeviceAddress address = 0;
  TextureOutside outside = TextureOutside::kClamp;
  bool filters = false, normalised = false, as_fraction = false;
};

// Encodes a texture object. Throws kBadArgument, with the rule that the description breaks.
std::vector<std::byte> encode_texture(const TextureDesc& desc);

}  // namespace tessera
