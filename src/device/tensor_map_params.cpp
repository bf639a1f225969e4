#include <algorithm>

#include "device/device.h"

namespace tessera {
namespace {

constexpr std::size_t kRememberedMaps = 32;  // two operands in rotated buffers, and some to spare

}  // namespace

const TensorMapBytes& Device::encoded(const TensorMapDesc& desc) {
  const auto known = std::find_if(encoded_maps_.begin(), encoded_maps_.end(),
                                  [&](const EncodedMap& map) { return map.desc == desc; });
  if (known != encoded_maps_.end()) return known->bytes;
  EncodedMap map{desc, encode_tensor_map(desc)};
  if (encoded_maps_.size() < kRememberedMaps) {
    encoded_maps_.push_back(map);
    return encoded_maps_.back().bytes;
  }
  return (encoded_maps_[next_encoded_++ % kRememberedMaps] = map).bytes;
}

void Device::launch(const LoadedImage& image, const Launch& launch) {
  const LoadedEntry found = entry(image, launch.entry, launch.shape);
  const std::vector<std::byte> params = params_of(launch);
  this->launch(found, launch.shape, params, launch.param_offsets, nullptr);
}

std::vector<std::byte> Device::params_of(const Launch& launch) {
  std::vector<std::byte> params = launch.params;
  for (const LaunchTensorMap& map : launch.tensor_maps) {
    const TensorMapBytes& bytes = encoded(map.desc);
    if (map.offset % alignof(TensorMapBytes) != 0 || params.size() < sizeof bytes.bytes ||
        map.offset > params.size() - sizeof bytes.bytes) {
      throw StatusError(Status::bad_argument(
          "a tensor map of " + launch.entry + " begins at byte " + std::to_string(map.offset) +
          " of " + std::to_string(params.size()) +
          ", but its 128 bytes must lie in the parameters, at a multiple of 64"));
    }
    std::copy(bytes.bytes.begin(), bytes.bytes.end(),
              params.begin() + static_cast<std::ptrdiff_t>(map.offset));
  }
  return params;
}

}  // namespace tessera
