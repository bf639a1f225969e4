#include "check/maps.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::checking {
namespace {

// The whole array as a tensor, its fastest dimension first.
TensorMapDesc describe(const TensorMapArgument& map, const HostArray& array,
                       DeviceAddress address) {
  TensorMapDesc desc;
  desc.type = tensor_type_of(array.type);
  desc.address = address;
  desc.rank = static_cast<int>(array.shape.size());
  std::vector<std::int64_t> sizes = array.shape;
  if (!array.fortran_order) std::reverse(sizes.begin(), sizes.end());
  std::uint64_t stride = size_of(array.type);
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (d > 0) desc.strides[d - 1] = stride;
    desc.sizes[d] = static_cast<std::uint64_t>(sizes[d]);
    desc.box[d] = static_cast<std::uint32_t>(map.box[d]);
    stride *= desc.sizes[d];
  }
  desc.swizzle = map.swizzle == 32    ? TensorSwizzle::k32B
                 : map.swizzle == 64  ? TensorSwizzle::k64B
                 : map.swizzle == 128 ? TensorSwizzle::k128B
                                      : TensorSwizzle::kNone;
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
  const std::size_t rank = array->shape.size();
  if (rank > std::size_t{kMaxTensorRank}) refuse("a tensor has at most 5 dimensions");
  if (rank != map.box.size()) {
    refuse(
        fmt::format("the box has {} extents and array {} has {}", map.box.size(), map.array, rank));
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

}  // namespace tessera::checking
