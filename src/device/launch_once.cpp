#include <algorithm>

#include "device/device.h"

namespace tessera {

void Device::launch(const LoadedImage& image, const Launch& launch) {
  const LoadedEntry found = entry(image, launch.entry, launch.shape);
  const std::vector<std::byte> params = params_of(*this, launch);
  this->launch(found, launch.shape, params, launch.param_offsets, nullptr);
}

std::vector<std::byte> params_of(const Modules& modules, const Launch& launch) {
  std::vector<std::byte> params = launch.params;
  for (const LaunchTensorMap& map : launch.tensor_maps) {
    const TensorMapBytes encoded = modules.encode_tensor_map(map.desc);
    if (map.offset % alignof(TensorMapBytes) != 0 || params.size() < sizeof encoded.bytes ||
        map.offset > params.size() - sizeof encoded.bytes) {
      throw StatusError(Status::bad_argument(
          "a tensor map of " + launch.entry + " begins at byte " + std::to_string(map.offset) +
          " of " + std::to_string(params.size()) +
          ", but its 128 bytes must lie in the parameters, at a multiple of 64"));
    }
    std::copy(encoded.bytes.begin(), encoded.bytes.end(),
              params.begin() + static_cast<std::ptrdiff_t>(map.offset));
  }
  return params;
}

}  // namespace tessera
