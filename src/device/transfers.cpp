// Transfers of a device that runs every call synchronously.
#include "device/transfers.h"

#include <cstdlib>

#include "device/device.h"

namespace tessera {
namespace {

constexpr std::size_t kPageBytes = 4096;

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

}  // namespace

AddressKind Device::kind_of(std::uint64_t) const { return AddressKind::kUnknown; }

void* Device::allocate_pinned(std::size_t bytes) {
  if (void* memory = std::aligned_alloc(kPageBytes, whole_pages(bytes))) return memory;
  throw OutOfMemory("not enough host memory: " + std::to_string(bytes) + " bytes asked");
}

void Device::free_pinned(void* memory) { std::free(memory); }

void Device::copy_in(DeviceAddress to, const void* from, const CopyShape& shape, void*) {
  const auto* first = static_cast<const std::byte*>(from);
  for (std::size_t row = 0; row < shape.rows; ++row) {
    copy_in(to + row * shape.device_pitch, first + row * shape.host_pitch, shape.width);
  }
}

void Device::copy_out(void* to, DeviceAddress from, const CopyShape& shape, void*) {
  auto* first = static_cast<std::byte*>(to);
  for (std::size_t row = 0; row < shape.rows; ++row) {
    copy_out(first + row * shape.host_pitch, from + row * shape.device_pitch, shape.width);
  }
}

}  // namespace tessera
