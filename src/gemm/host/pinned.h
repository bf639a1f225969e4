// Copies rectangles between a caller's host memory and a device. Pageable memory goes through
// pinned buffers: the GPU copies from or to one buffer while the host works on the other.
#pragma once

#include <array>
#include <cstdint>

#include "device/owned.h"
#include "gemm/host/copy_threads.h"

namespace tessera::gemm::host {

// A rectangle of bytes: its rows in host memory and on the device.
struct Rectangle {
  std::uint64_t host;
  DeviceAddress device;
  CopyShape shape;
  // The bytes between two rows on the device may be overwritten.
  bool has_free_gaps = false;
};

// Copies in one direction: a stream, and two pinned buffers for memory that is not pinned.
class Lane {
 public:
  Lane(Device& device, CopyThreads& threads)
      : device_(device), threads_(threads), stream_(device) {}
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Allocates the buffers for copies of `bytes` bytes in total, so that no
  // later copy runs out of memory.
  void reserve(double bytes);
  void* stream() const { return stream_.get(); }
  // Copies to the device. Returns when the host has read all memory that is not pinned; the
  // device may still be copying.
  void copy_in(const Rectangle& all, bool is_pinned);
  // Copies from the device. All bytes have arrived only after finish().
  void copy_out(const Rectangle& all, bool is_pinned);
  void finish();
  // After a failure: waits for copies from and to the caller's memory, and drops the results.
  void abandon() noexcept;

 private:
  struct Slot {
    explicit Slot(Device& device) : done(device) {}
    void* memory = nullptr;
    OwnedEvent done;
    bool is_busy = false;
    Rectangle out = {};  // where the buffer's contents go in host memory
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
