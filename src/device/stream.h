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
  // Asynchronous on a real GPU, where it allocates nothing; safe to use from several threads.
  // `offsets`: where each of several parameters begins in `params`; empty: it is one block. A fault
  // (out of bounds, deadlock, ...) throws kFailed here or at the next synchronize(); on the virtual
  // GPU a LaunchFault (device/virtual/observer.h) here.
  virtual void launch(const LoadedEntry& entry, const LaunchShape& shape,
                      std::span<const std::byte> params, std::span<const std::size_t> offsets,
                      void* stream) const = 0;
  // Returns when all work of the stream is done. Illegal while it is captured.
  virtual void synchronize(void* stream) = 0;
  void synchronize() { synchronize(nullptr); }
  // The capture that records the stream's work for a graph instead of doing it: a number that no
  // other capture of the process has. nullopt: the work is done.
  virtual std::optional<std::uint64_t> capture_of(void*) const { return {}; }
  bool is_capturing(void* stream) const { return capture_of(stream).has_value(); }
  // For a stream that is being captured: calls `gone` when its graph, all copies of it and all
  // executables made from them are destroyed and no longer run. The call may come on any thread,
  // and must not use the device.
  virtual void when_graph_is_gone(void*, std::function<void()>) {}

  // Elapsed milliseconds on the device between two marks on its default stream; nullopt on the
  // virtual GPU.
  virtual std::uint64_t record_mark() = 0;
  virtual std::optional<double> milliseconds_between(std::uint64_t begin, std::uint64_t end) = 0;

  // The default stream, for a vendor library timed between marks; null on the virtual GPU.
  virtual void* native_stream() const { return nullptr; }
};

}  // namespace tessera
