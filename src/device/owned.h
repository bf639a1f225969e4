// Owners of a device's streams and events.
#pragma once

#include "device/device.h"

namespace tessera {

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

}  // namespace tessera
