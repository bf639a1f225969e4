#include "device/virtual/texture.h"

#include <cstring>
#include <limits>
#include <map>

#include "base/status.h"
#include "vgpu/exec/texture/texture.h"

namespace tessera {
namespace {

[[noreturn]] void refuse(const char* rule) { throw StatusError(Status::bad_argument(rule)); }

vgpu::TexelType texel_type(ElementType type) {
  static const std::map<ElementType, vgpu::TexelType> kTypes = {
      {ElementType::kU8, vgpu::TexelType::kU8},   {ElementType::kS8, vgpu::TexelType::kS8},
      {ElementType::kU16, vgpu::TexelType::kU16}, {ElementType::kS16, vgpu::TexelType::kS16},
      {ElementType::kU32, vgpu::TexelType::kU32}, {ElementType::kS32, vgpu::TexelType::kS32},
      {ElementType::kF16, vgpu::TexelType::kF16}, {ElementType::kF32, vgpu::TexelType::kF32}};
  const auto found = kTypes.find(type);
  if (found == kTypes.end())
    refuse("the elements of a texture are i8 u8 i16 u16 i32 u32 f16 or f32");
  return found->second;
}

}  // namespace

std::vector<std::byte> encode_texture(const TextureDesc& desc) {
  vgpu::Texture texture;
  texture.type = texel_type(desc.type);
  if (desc.channels != 1 && desc.channels != 2 && desc.channels != 4) {
    refuse("a texel has 1, 2 or 4 channels");
  }
  if (desc.extents.empty() || desc.extents.size() > vgpu::kTextureRank) {
    refuse("a texture has one to three dimensions");
  }
  const bool is_float = texture.type >= vgpu::TexelType::kF16;
  if (desc.as_fraction && (is_float || vgpu::bytes_of(texture.type) > 2)) {
    refuse("only elements of 8 or 16 bits are read as fractions");
  }
  if (desc.filters && !is_float && !desc.as_fraction) {
    refuse("only floats are filtered, or integers that are read as fractions");
  }
  texture.channels = static_cast<std::uint8_t>(desc.channels);
  texture.rank = static_cast<std::uint8_t>(desc.extents.size());
  texture.outside = static_cast<vgpu::TextureAddress>(desc.outside);
  texture.filters = desc.filters;
  texture.normalised = desc.normalised;
  texture.as_fraction = desc.as_fraction;
  for (std::size_t d = 0; d < desc.extents.size(); ++d) {
    if (desc.extents[d] < 1 || desc.extents[d] > std::numeric_limits<std::int32_t>::max()) {
      refuse("an extent of a texture is 1 to 2147483647");
    }
    texture.extents[d] = static_cast<std::uint32_t>(desc.extents[d]);
  }
  texture.address = desc.address;
  std::vector<std::byte> bytes(sizeof texture);
  std::memcpy(bytes.data(), &texture, sizeof texture);
  return bytes;
}

}  // namespace tessera
