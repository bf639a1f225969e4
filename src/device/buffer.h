// Device memory with an owner. Movable only.
#pragma once

#include "device/memory.h"

namespace tessera {

class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(Memory& memory, std::size_t bytes);
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();
  DeviceAddress address() const { return address_; }
  std::size_t bytes() const { return bytes_; }

 private:
  Memory* memory_ = nullptr;
  DeviceAddress address_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace tessera
