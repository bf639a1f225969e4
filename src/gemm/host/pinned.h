// Rectangles between a caller's host memory and a device. Pageable memory goes through pinned
// buffers, which a copy on the GPU fills or empties while the host does the next one.
#pragma once

#include <array>
#include <cstdint>

#include "device/device.h"

namespace tessera::gemm::host {

// A stream and events with an owner.
class OwnedStream {
 public:
  explicit OwnedStream(Device& device) : device_(device), stream_(device.make_stream()) {}
  ~OwnedStream();
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;
  void* get() const { return stream_; }

 private:
  Device& device_;
  void* stream_;
};

class OwnedEvent {
 public:
  explicit OwnedEvent(Device& device) : device_(device), event_(device.make_event()) {}
  ~OwnedEvent();
  OwnedEvent(const OwnedEvent&) = delete;
  OwnedEvent& operator=(const OwnedEvent&) = delete;
  void* get() const { return event_; }

 private:
  Device& device_;
  void* event_;
};

// Rows of bytes in host memory and on the device.
struct Rectangle {
  std::uint64_t host;
  DeviceAddress device;
  CopyShape shape;
};

// One direction: a stream, and two pinned buffers where the caller's memory is not pinned.
class Lane {
 public:
  explicit Lane(Device& device) : device_(device), stream_(device) {}
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Makes the buffers, so that nothing later can fail for want of memory.
  void reserve();
  void* stream() const { return stream_.get(); }
  // Returns when the host has read everything; the device may still be at it.
  void copy_in(const Rectangle& all, bool is_pinned);
  // Returns when everything but the last two buffers is there; finish() waits for these.
  void copy_out(const Rectangle& all, bool is_pinned);
  void finish();

 private:
  struct Slot {
    explicit Slot(Device& device) : done(device) {}
    void* memory = nullptr;
    OwnedEvent done;
    bool is_busy = false;
    Rectangle out = {};  // what is on its way to the caller's memory
  };

  Slot& next_slot();
  void settle(Slot& slot);

  Device& device_;
  OwnedStream stream_;
  std::array<Slot, 2> slots_{Slot{device_}, Slot{device_}};
  std::size_t next_ = 0;
};

}  // namespace tessera::gemm::host
