#include "gemm/host/staging.h"

#include <algorithm>
#include <bit>

namespace tessera::gemm::host {

DeviceAddress KeptBuffer::at_least(std::size_t bytes) {
  if (buffer_.bytes() >= bytes) return buffer_.address();
  release();
  buffer_ = DeviceBuffer(device_, std::max(bytes, std::size_t{1}));
  return buffer_.address();
}

void Staging::release_above(std::size_t bytes) {
  for (KeptBuffer* one : {&a, &b, &c, &d, &scale, &bias, &whole}) {
    if (one->bytes() > bytes) one->release();
  }
}

PinnedBuffer::~PinnedBuffer() {
  if (!memory_) return;
  try {
    device_.free_pinned(memory_);
  } catch (const StatusError&) {
    // WHY ignore: a destructor must not throw, and a device that failed has already reported it.
  }
}

std::byte* PinnedBuffer::at_least(std::size_t bytes) {
  if (bytes > bytes_) {
    const std::size_t rounded = std::bit_ceil(bytes);
    void* const larger = device_.allocate_pinned(rounded);
    if (memory_) device_.free_pinned(memory_);
    memory_ = larger;
    bytes_ = rounded;
  }
  return static_cast<std::byte*>(memory_);
}

}  // namespace tessera::gemm::host
