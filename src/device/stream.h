// Work on a device, in the order of its streams. A stream is the caller's (a CUstream, which is a
// cudaStream_t); null means the device's default stream. Failures throw StatusError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "device/modules.h"
#include "launch/launch.h"

namespace tessera {

class Stream {
 public:
  virtual ~Stream() = default;
  // Launches a kernel: asynchronously on a real GPU, where the call allocates nothing. Safe to use
  // from several threads. `offsets`: where each of several parameters begins in `params`; empty if
  // `params` is one block. A fault (out of bounds, deadlock, ...) throws kFailed here or at the
  // next synchronize(). On the virtual GPU it throws a LaunchFault (device/virtual/observer.h)
  // here.
  virtual void launch(const LoadedEntry& entry, const LaunchShape& shape,
                      std::span<const std::byte> params, std::span<const std::size_t> offsets,
                      void* stream) const = 0;
  // Returns when all work of the stream is done. Must not be called while the stream is captured.
  virtual void synchronize(void* stream) = 0;
  void synchronize() { synchronize(nullptr); }
  // If the stream is being captured into a graph, returns a number for that capture, unique in the
  // process. Returns nullopt if the stream is not captured, so that its work is executed at once.
  virtual std::optional<std::uint64_t> capture_of(void*) const { return {}; }
  bool is_capturing(void* stream) const { return capture_of(stream).has_value(); }
  // For a stream that is being captured: calls `gone` when its graph, all copies of it and all
  // executables made from them are destroyed and no longer run. The call may come on any thread,
  // and must not use the device.
  virtual void when_graph_is_gone(void*, std::function<void()>) {}

  // Marks on the device's default stream, and the elapsed milliseconds on the device between two
  // marks (nullopt on the virtual GPU).
  virtual std::uint64_t record_mark() = 0;
  virtual std::optional<double> milliseconds_between(std::uint64_t begin, std::uint64_t end) = 0;

  // The default stream, for a vendor library timed between marks; null on the virtual GPU.
  virtual void* native_stream() const { return nullptr; }
};

}  // namespace tessera
