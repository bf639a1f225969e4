// Rectangles between a caller's host memory and a device. Pageable memory goes through pinned
// buffers, which a copy on the GPU fills or empties while the host does the next one.
#pragma once

#include <array>
#include <cstdint>

#include "device/owned.h"
#include "gemm/host/copy_threads.h"

namespace tessera::gemm::host {

// Rows of bytes in host memory and on the device.
struct Rectangle {
  std::uint64_t host;
  DeviceAddress device;
  CopyShape shape;
  // Between two rows on the device there is nothing that may not be overwritten.
  bool has_free_gaps = false;
};

// One direction: a stream, and two pinned buffers where the caller's memory is not pinned.
class Lane {
 public:
  Lane(Device& device, CopyThreads& threads)
      : device_(device), threads_(threads), stream_(device) {}
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Makes the buffers, for copies of this many bytes in all, so that nothing later can fail for
  // want of memory.
  void reserve(double bytes);
  void* stream() const { return stream_.get(); }
  // Returns when the host has read everything, except for memory that is pinned; the device may
  // still be at it.
  void copy_in(const Rectangle& all, bool is_pinned);
  // Returns when everything but the last two buffers is there; finish() waits for these.
  void copy_out(const Rectangle& all, bool is_pinned);
  void finish();
  // After a failure: waits for copies from and to the caller's memory, and forgets them.
  void abandon() noexcept;

 private:
  struct Slot {
    explicit Slot(Device& device) : done(device) {}
    void* memory = nullptr;
    OwnedEvent done;
    bool is_busy = false;
    Rectangle out = {};  // being copied to the caller's memory
  };

  template <class Part>
  void for_each_part(const Rectangle& all, Part part);
  Slot& next_slot();
  void settle(Slot& slot);
  void free_buffers();

  Device& device_;
  CopyThreads& threads_;
  OwnedStream stream_;
  std::array<Slot, 2> slots_{Slot{device_}, Slot{device_}};
  std::size_t next_ = 0;
  std::size_t buffer_bytes_ = 0, part_bytes_ = 0;
};

}  // namespace tessera::gemm::host
