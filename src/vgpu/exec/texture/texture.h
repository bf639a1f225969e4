// Texture objects of the virtual GPU: a 64-bit handle is the address of this struct in global
// memory. A texture is an array of up to three dimensions, in linear memory or in a CUDA array;
// both are stored row by row here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "vgpu/program/op.h"

namespace tessera::vgpu {

enum class TexelType : std::uint8_t { kU8, kS8, kU16, kS16, kU32, kS32, kF16, kF32 };
// The addressing mode: the meaning of a coordinate outside the texture.
enum class TextureAddress : std::uint8_t { kClamp, kBorder, kWrap, kMirror };

constexpr std::uint32_t kTextureMagic = 0x74786574;  // "text"
constexpr int kTextureRank = 3;

struct Texture {
  std::uint32_t magic = kTextureMagic;
  TexelType type = TexelType::kF32;
  std::uint8_t channels = 1;  // 1, 2 or 4
  std::uint8_t rank = 1;
  TextureAddress outside = TextureAddress::kClamp;
  std::uint8_t filters = 0;      // linearly, between the neighbours; else the texel at the place
  std::uint8_t normalised = 0;   // coordinates: 1.0 is the whole extent
  std::uint8_t as_fraction = 0;  // integers are read as floats from 0 or -1 to 1
  std::uint8_t reserved = 0;
  std::uint32_t extents[kTextureRank] = {1, 1, 1};  // texels, innermost first
  std::uint64_t address = 0;
};

constexpr std::uint32_t bytes_of(TexelType type) {
  return type <= TexelType::kS8 ? 1 : type <= TexelType::kS16 || type == TexelType::kF16 ? 2 : 4;
}

// Operands of tex.1d, tex.2d and tex.3d: four results, handle, coordinates. The flags are below.
constexpr std::uint32_t kIntegerCoordinates = 1;
constexpr std::uint32_t kFloatResults = 2;
constexpr std::uint32_t kTextureRankShift = 4;
void texture_fetch(const Op* first, const Op* last, Lanes& lanes);

}  // namespace tessera::vgpu
