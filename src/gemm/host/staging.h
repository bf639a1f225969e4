// The resources that a handle keeps for operands in host memory: streams, pinned buffers, threads
// that copy, and device memory. Making them takes 25 ms, and a small product 50 us.
#pragma once

#include <deque>
#include <mutex>

#include "device/buffer.h"
#include "gemm/host/pinned.h"

namespace tessera::gemm::host {

// A buffer of device memory that grows with the calls.
class KeptBuffer {
 public:
  explicit KeptBuffer(Device& device) : device_(device) {}
  // The address of `bytes` bytes or more, of any content. The last buffer must not be in use.
  DeviceAddress at_least(std::size_t bytes);
  DeviceAddress address() const { return buffer_.address(); }
  std::size_t bytes() const { return buffer_.bytes(); }
  void release() { buffer_ = DeviceBuffer(); }

 private:
  Device& device_;
  DeviceBuffer buffer_;
};

// A buffer of pinned host memory that grows with the calls.
class PinnedBuffer {
 public:
  explicit PinnedBuffer(Device& device) : device_(device) {}
  ~PinnedBuffer();
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  std::byte* at_least(std::size_t bytes);

 private:
  Device& device_;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

// Serves one call at a time, which holds `mutex`.
struct Staging {
  explicit Staging(Device& device)
      : a(device),
        b(device),
        c(device),
        d(device),
        scale(device),
        bias(device),
        whole(device),
        up(device),
        down(device),
        in(device, threads),
        out(device, threads),
        arrived(device) {}

  // Frees device buffers of more than `bytes` bytes. No launch or copy may still use them.
  void release_above(std::size_t bytes);

  std::mutex mutex;
  CopyThreads threads;
  KeptBuffer a, b, c, d, scale, bias;  // panels
  KeptBuffer whole;                    // all operands of a small problem
  PinnedBuffer up, down;               // operands of a small problem in host memory: inputs, D
  Lane in, out;
  OwnedEvent arrived;
  std::deque<OwnedEvent> multiplied;
};

}  // namespace tessera::gemm::host
