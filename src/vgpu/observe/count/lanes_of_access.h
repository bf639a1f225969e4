// One access of a warp, with the fields that the counting rules need.
#pragma once

#include <cstdint>

namespace tessera::vgpu {

struct LaneAccess {
  std::uint32_t mask = 0;                  // active lanes, at least one
  std::uint32_t bytes = 0;                 // a lane; addresses are multiples of it
  const std::uint64_t* address = nullptr;  // 32; only those of active lanes count
};

}  // namespace tessera::vgpu
