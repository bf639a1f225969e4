#include <algorithm>

#include "device/device.h"

namespace tessera {

std::vector<std::byte> params_with_tensor_maps(Device& device, const Launch& launch) {
  std::vector<std::byte> params = launch.params;
  for (const LaunchTensorMap& map : launch.tensor_maps) {
    const TensorMapBytes encoded = device.encode_tensor_map(map.desc);
    if (map.offset % alignof(TensorMapBytes) != 0 || params.size() < encoded.bytes.size() ||
        map.offset > params.size() - encoded.bytes.size()) {
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
