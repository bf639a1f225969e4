// Tensor maps of the virtual GPU: the 128 opaque bytes that tell a tensor copy where
// the tensor is, and how a box of it is laid out in shared memory. The code that
// encodes maps checks their values.
#pragma once

#include <array>
#include <cstdint>

#include "vgpu/async/reduction.h"

namespace tessera::vgpu {

// HW: numbers of CUtensorMapDataType, ...Interleave, ...Swizzle and ...FloatOOBfill in cuda.h of
// CUDA 13.0. The last three have the same numbers in tensormap.replace (PTX ISA).
enum class MapType : std::uint8_t {
  kU8,
  kU16,
  kU32,
  kS32,
  kU64,
  kS64,
  kF16,
  kF32,
  kF64,
  kBf16,
  kF32Ftz,
  kTf32,
  kTf32Ftz,
};
enum class MapSwizzle : std::uint8_t { kNone, k32B, k64B, k128B };

constexpr int kMaxRank = 5;
constexpr std::uint32_t kMapBytes = 128;
constexpr std::uint32_t kMapMagic = 0x70616d74;  // "tmap"

struct TensorMap {
  std::uint32_t magic = kMapMagic;
  MapType type = MapType::kF32;
  std::uint8_t rank = 0;
  std::uint8_t interleave = 0;  // none; others cannot be run
  MapSwizzle swizzle = MapSwizzle::kNone;
  std::uint64_t address = 0;
  std::uint64_t strides[kMaxRank - 1] = {};  // bytes, of dimension 1 on
  std::uint32_t sizes[kMaxRank] = {};        // elements, innermost first; 0: 2^32
  std::uint16_t box[kMaxRank] = {};
  std::uint8_t element_strides[kMaxRank] = {};
  std::uint8_t nan_fill = 0;
  std::uint32_t reserved[11] = {};
};
static_assert(sizeof(TensorMap) == kMapBytes);

constexpr std::uint32_t bytes_of(MapType type) {
  switch (type) {
    case MapType::kU8:
      return 1;
    case MapType::kU16:
    case MapType::kF16:
    case MapType::kBf16:
      return 2;
    case MapType::kU64:
    case MapType::kS64:
    case MapType::kF64:
      return 8;
    default:
      return 4;
  }
}
CopyElement element_of(MapType type);

using MapBytes = std::array<std::byte, kMapBytes>;
MapBytes encode(const TensorMap& map);

}  // namespace tessera::vgpu
