#include "device/buffer.h"

#include <utility>

namespace tessera {

DeviceBuffer::DeviceBuffer(Device& device, std::size_t bytes)
    : device_(&device), address_(device.allocate(bytes)), bytes_(bytes) {}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (!device_ || address_ == 0) return;
  try {
    device_->free(address_);
  } catch (const StatusError&) {
    // WHY: a destructor may not throw, and a device that failed has already said so.
  }
}

}  // namespace tessera
