#include "gemm/host/staging.h"

#include <algorithm>
#include <bit>

namespace tessera::gemm::host {
namespace {

// A buffer this many times larger than this many calls in a row need is made anew.
constexpr std::size_t kFarLess = 4;
constexpr int kManyCalls = 64;
constexpr std::size_t kSmall = std::size_t{64} << 20;  // bytes that are kept in any case

}  // namespace

DeviceAddress KeptBuffer::at_least(std::size_t bytes) {
  const std::size_t has = buffer_.bytes();
  small_calls_ = has > kSmall && bytes < has / kFarLess ? small_calls_ + 1 : 0;
  if (has >= bytes && small_calls_ < kManyCalls) return buffer_.address();
  buffer_ = DeviceBuffer();
  buffer_ = DeviceBuffer(device_, std::max(bytes, std::size_t{1}));
  small_calls_ = 0;
  return buffer_.address();
}

PinnedBuffer::~PinnedBuffer() {
  if (!memory_) return;
  try {
    device_.free_pinned(memory_);
  } catch (const StatusError&) {
    // WHY: a destructor may not throw, and a device that failed has already reported it.
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
