// Memory of a device, by address. Failures throw StatusError.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/status.h"
#include "launch/image.h"

namespace tessera {

// kUnavailable because memory is short: some callers treat that case differently.
class OutOfMemory : public StatusError {
 public:
  explicit OutOfMemory(std::string message)
      : StatusError(Status::unavailable(std::move(message))) {}
};

class Memory {
 public:
  virtual ~Memory() = default;
  // Throws OutOfMemory when the memory cannot be had. Address 0 only for 0 bytes. Legal while a
  // stream is captured, and never part of the graph.
  virtual DeviceAddress allocate(std::size_t bytes) = 0;
  virtual void free(DeviceAddress address) = 0;
  // Both return when the bytes are there.
  virtual void copy_in(DeviceAddress to, const void* from, std::size_t bytes) = 0;
  virtual void copy_out(void* to, DeviceAddress from, std::size_t bytes) = 0;
};

}  // namespace tessera
