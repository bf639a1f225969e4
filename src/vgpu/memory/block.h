// The type is plain data, because operations that are compiled twice use it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::vgpu {

// One allocation of global memory, with its address on the device and on the host.
struct MemoryBlock {
  std::uint64_t base = 0;  // device address
  std::uint64_t bytes = 0;
  std::byte* host = nullptr;
};

}  // namespace tessera::vgpu
