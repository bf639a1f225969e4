#include "vgpu/memory/device_heap.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace tessera::vgpu {
namespace {

constexpr std::uint64_t kAlignment = 16, kRedZone = 64;

}  // namespace

std::uint64_t DeviceHeap::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  const std::lock_guard lock(mutex_);
  if (!std::has_single_bit(alignment) || alignment > kLimit) return 0;
  if (bytes == 0 || bytes > kLimit || used_ + bytes > kLimit) return 0;
  if (used_ == 0 && next_ - base_ > kSpan / 2) {
    pieces_.clear();
    next_ = base_;
  }
  const std::uint64_t room = (bytes + kAlignment - 1) / kAlignment * kAlignment + kRedZone;
  const std::uint64_t to = std::max(alignment, kAlignment);
  const std::uint64_t address = (next_ + to - 1) / to * to;
  if (address + room > base_ + kSpan) return 0;
  next_ = address + room;
  used_ += bytes;
  pieces_[address] = {bytes, false};
  return address;
}

std::string DeviceHeap::free(std::uint64_t address) {
  if (address == 0) return "";
  const std::lock_guard lock(mutex_);
  const auto found = pieces_.find(address);
  if (found == pieces_.end()) return "this address is not what malloc() returned";
  if (found->second.freed) return "this memory was freed before";
  found->second.freed = true;
  used_ -= found->second.bytes;
  return "";
}

std::string DeviceHeap::misuse(std::uint64_t address, std::uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  const auto after = pieces_.upper_bound(address);
  if (after == pieces_.begin()) return "outside of what malloc() gave";
  const auto& [begin, piece] = *std::prev(after);
  const std::uint64_t at = address - begin;
  if (at + bytes > piece.bytes) {
    return at < piece.bytes ? fmt::format("past the end of {} bytes of malloc()", piece.bytes)
                            : fmt::format("{} bytes past the end of {} bytes of malloc()",
                                          at - piece.bytes, piece.bytes);
  }
  return piece.freed ? fmt::format("inside {} bytes of malloc() that were freed", piece.bytes) : "";
}

}  // namespace tessera::vgpu
