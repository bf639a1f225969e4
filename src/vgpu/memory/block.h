// Plain data, because operations that are compiled twice use it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::vgpu {

// One allocation of global memory, as seen from both sides.
struct MemoryBlock {
  std::uint64_t base = 0;  // device address
  std::uint64_t bytes = 0;
  std::byte* host = nullptr;
};

}  // namespace tessera::vgpu
