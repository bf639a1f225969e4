// The launches of a plan with the addresses of its operands in their places, as a device would be
// given them; tensor maps as descriptions.
#pragma once

#include <vector>

#include "gemm/call/arguments.h"

namespace tessera {

inline std::vector<Launch> bound_launches(const gemm::Plan& plan,
                                          const gemm::Arguments& arguments) {
  std::vector<Launch> launches;
  for (const gemm::Step& planned : plan.steps) {
    Launch& launch = launches.emplace_back(planned.launch);
    gemm::patch(planned, arguments, launch.params);
    for (const gemm::MapPatch& map : planned.maps) {
      launch.tensor_maps.push_back({map.offset, map.desc});
      launch.tensor_maps.back().desc.address = gemm::address_of(map.address, arguments);
    }
  }
  return launches;
}

}  // namespace tessera
