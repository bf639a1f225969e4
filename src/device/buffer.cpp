#include "device/buffer.h"

#include <utility>

#include "base/status.h"

namespace tessera {

DeviceBuffer::DeviceBuffer(Memory& memory, std::size_t bytes)
    : memory_(&memory), address_(memory.allocate(bytes)), bytes_(bytes) {}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (!memory_ || address_ == 0) return;
  try {
    memory_->free(address_);
  } catch (const StatusError&) {
    // WHY: a destructor may not throw, and a failed device has already reported its failure.
  }
}

}  // namespace tessera
