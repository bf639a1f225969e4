// Memory of a device, by address. Failures throw StatusError.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/status.h"
#include "launch/image.h"

namespace tessera {

// Is thrown, with kUnavailable, if there is too little memory. Some callers treat this case
// differently from other errors.
class OutOfMemory : public StatusError {
 public:
  explicit OutOfMemory(std::string message)
      : StatusError(Status::unavailable(std::move(message))) {}
};

class Memory {
 public:
  virtual ~Memory() = default;
  // Allocates device memory. Throws OutOfMemory if there is too little. Returns address 0 only for
  // 0 bytes. May be called while a stream is captured, and is never part of the graph.
  virtual DeviceAddress allocate(std::size_t bytes) = 0;
  virtual void free(DeviceAddress address) = 0;
  // copy_in() and copy_out() return when all bytes are copied.
  virtual void copy_in(DeviceAddress to, const void* from, std::size_t bytes) = 0;
  virtual void copy_out(void* to, DeviceAddress from, std::size_t bytes) = 0;
};

}  // namespace tessera
