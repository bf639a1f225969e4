// Gathers the bytes that a store writes from its source registers.
#include <cstring>

#include "vgpu/report/observer.h"

namespace tessera::vgpu {

std::size_t StoredValues::bytes_of(int lane, std::byte* to) const {
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* from = registers[i] + static_cast<std::size_t>(lane) * register_bytes;
    std::memcpy(to + i * cell_bytes, from, cell_bytes);
  }
  return std::size_t{count} * cell_bytes;
}

}  // namespace tessera::vgpu
