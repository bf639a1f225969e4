#include "vgpu/async/tensor_map.h"

#include <cstring>

namespace tessera::vgpu {

CopyElement element_of(MapType type) {
  switch (type) {
    case MapType::kU8:
      return CopyElement::kU8;
    case MapType::kU16:
      return CopyElement::kU16;
    case MapType::kU32:
      return CopyElement::kU32;
    case MapType::kS32:
      return CopyElement::kS32;
    case MapType::kU64:
      return CopyElement::kU64;
    case MapType::kS64:
      return CopyElement::kS64;
    case MapType::kF16:
      return CopyElement::kF16;
    case MapType::kBf16:
      return CopyElement::kBf16;
    case MapType::kF64:
      return CopyElement::kF64;
    default:
      return CopyElement::kF32;
  }
}

MapBytes encode(const TensorMap& map) {
  MapBytes bytes;
  std::memcpy(bytes.data(), &map, sizeof map);
  return bytes;
}

}  // namespace tessera::vgpu
