#include "check/maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "device/virtual/texture.h"

namespace tessera::checking {
namespace {

TensorSwizzle swizzle_of(int bytes) {
  if (bytes == 32) return TensorSwizzle::k32B;
  if (bytes == 64) return TensorSwizzle::k64B;
  return bytes == 128 ? TensorSwizzle::k128B : TensorSwizzle::kNone;
}

// Returns the extents of the tensor map in elements, innermost first.
std::vector<std::int64_t> sizes_of(const TensorMapArgument& map, const HostArray& array) {
  if (!map.sizes.empty()) return map.sizes;
  std::vector<std::int64_t> sizes = array.shape;
  if (!array.fortran_order) std::reverse(sizes.begin(), sizes.end());
  return sizes;
}

// If the argument has no sizes and strides, the tensor map covers the whole array, with the array's
// fastest dimension first.
TensorMapDesc describe(const TensorMapArgument& map, const HostArray& array,
                       DeviceAddress address) {
  TensorMapDesc desc;
  desc.type = tensor_type_of(array.type);
  desc.address = address + map.offset;
  const std::vector<std::int64_t> sizes = sizes_of(map, array);
  desc.rank = static_cast<int>(sizes.size());
  std::uint64_t stride = size_of(array.type);
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (d > 0 && !map.strides.empty()) stride = static_cast<std::uint64_t>(map.strides[d - 1]);
    if (d > 0) desc.strides[d - 1] = stride;
    desc.sizes[d] = static_cast<std::uint64_t>(sizes[d]);
    desc.box[d] = static_cast<std::uint32_t>(map.box[d]);
    if (!map.steps.empty()) desc.element_strides[d] = static_cast<std::uint32_t>(map.steps[d]);
    stride *= desc.sizes[d];
  }
  desc.swizzle = swizzle_of(map.swizzle);
  desc.fill = map.fills_nan ? TensorFill::kNans : TensorFill::kZeros;
  return desc;
}

}  // namespace

std::vector<std::byte> encode_map(const Argument& argument, const std::vector<HostArray>& arrays,
                                  const Placed& placed, Device& device) {
  const auto& map = std::get<TensorMapArgument>(argument.value);
  const auto array = std::find_if(arrays.begin(), arrays.end(),
                                  [&](const HostArray& one) { return one.name == map.array; });
  const auto refuse = [&](const std::string& why) {
    throw StatusError(Status::bad_argument(
        fmt::format("--arg is '{}={}', but {}", argument.name, argument.text, why)));
  };
  const std::size_t rank = sizes_of(map, *array).size();
  if (rank > std::size_t{kMaxTensorRank}) refuse("a tensor has at most 5 dimensions");
  if (rank != map.box.size()) {
    refuse(fmt::format("the box has {} extents and {} has {}", map.box.size(),
                       map.sizes.empty() ? "array " + map.array : "the tensor", rank));
  }
  if (!map.strides.empty() && map.strides.size() + 1 != rank) {
    refuse(fmt::format("{} dimensions have {} strides: that of the innermost is its element", rank,
                       rank - 1));
  }
  if (!map.steps.empty() && map.steps.size() != rank) {
    refuse(fmt::format("there are {} steps, but {} dimensions", map.steps.size(), rank));
  }
  for (const std::int64_t extent : map.box) {
    if (extent > 256) refuse("an extent of a box is at most 256");
  }
  try {
    const auto encoded =
        device.encode_tensor_map(describe(map, *array, placed.arrays.at(map.array)));
    return {encoded.bytes.begin(), encoded.bytes.end()};
  } catch (const StatusError& error) {
    refuse(error.status().message);
  }
  return {};
}

std::vector<std::byte> encode_texture(const Argument& argument,
                                      const std::vector<HostArray>& arrays, const Placed& placed) {
  const auto& texture = std::get<TextureArgument>(argument.value);
  const auto array = std::find_if(arrays.begin(), arrays.end(),
                                  [&](const HostArray& one) { return one.name == texture.array; });
  TextureDesc desc;
  desc.type = array->type;
  desc.channels = texture.channels;
  desc.address = placed.arrays.at(texture.array);
  desc.filters = texture.filters;
  desc.normalised = texture.normalised;
  desc.as_fraction = texture.as_fraction;
  static const std::map<std::string, TextureOutside> kOutside = {
      {"clamp", TextureOutside::kClamp},
      {"border", TextureOutside::kBorder},
      {"wrap", TextureOutside::kWrap},
      {"mirror", TextureOutside::kMirror}};
  desc.outside = kOutside.at(texture.outside);
  desc.extents = array->shape;
  if (!array->fortran_order) std::reverse(desc.extents.begin(), desc.extents.end());
  const auto refuse = [&](const std::string& why) {
    throw StatusError(Status::bad_argument(
        fmt::format("--arg is '{}={}', but {}", argument.name, argument.text, why)));
  };
  if (texture.channels > 1) {
    if (desc.extents.empty() || desc.extents[0] != texture.channels) {
      refuse(fmt::format("the last extent of array {} must be the {} channels of a texel",
                         texture.array, texture.channels));
    }
    desc.extents.erase(desc.extents.begin());
  }
  try {
    return tessera::encode_texture(desc);
  } catch (const StatusError& error) {
    refuse(error.status().message);
  }
  return {};
}

}  // namespace tessera::checking
