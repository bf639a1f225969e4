// Copies between host and device that overlap with kernels, and facts that the device knows about
// an address. Failures throw StatusError.
#pragma once

#include <cstddef>
#include <cstdint>

#include "launch/image.h"

namespace tessera {

enum class AddressKind {
  kUnknown,  // to the driver: ordinary host memory, or memory that was freed
  kHost,     // host memory that the driver has pinned
  kHere,     // memory of this device, or managed memory
  kOther,    // memory of another device
};

// `rows` rows of `width` bytes each. In either memory, rows begin one pitch apart.
struct CopyShape {
  std::size_t width = 0, rows = 0;
  std::size_t host_pitch = 0, device_pitch = 0;
};

class Transfers {
 public:
  virtual ~Transfers() = default;
  virtual AddressKind kind_of(std::uint64_t address) const = 0;

  // Pinned host memory. The GPU copies from and to it without the host. Throws if it runs out.
  virtual void* allocate_pinned(std::size_t bytes) = 0;
  virtual void free_pinned(void* memory) = 0;

  // Copies bytes in the order of a stream, from and to pinned memory. With other memory the call
  // may wait.
  virtual void copy_in(DeviceAddress to, const void* from, const CopyShape& shape,
                       void* stream) = 0;
  virtual void copy_out(void* to, DeviceAddress from, const CopyShape& shape, void* stream) = 0;

  // Streams that run concurrently with other streams, and marks (events) in streams. A synchronous
  // device has neither; its make_stream() and make_event() return null.
  virtual void* make_stream() = 0;
  virtual void destroy_stream(void* stream) = 0;
  virtual void* make_event() = 0;
  virtual void destroy_event(void* event) = 0;
  virtual void record(void* event, void* stream) = 0;
  // Work that is given to the stream from now on begins after the work before the mark `event`.
  virtual void wait(void* stream, void* event) = 0;
  // Returns when all work before the mark `event` is done.
  virtual void wait_for(void* event) = 0;
};

}  // namespace tessera
