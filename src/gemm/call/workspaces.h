// Workspaces that a handle lends to calls without one: few blocks of device memory, whatever the
// number of streams. Blocks are passed from call to call in the GPU's order: the next call's stream
// waits for an event after the launches of the last call. So a stream may be destroyed, and another
// one may get its address, at any time.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "device/buffer.h"
#include "device/owned.h"

namespace tessera::gemm {

class LentWorkspace;

// Safe to use from several threads. Blocks are freed with the object, whose owner sees to it that
// no call is in flight on the GPU.
class Workspaces {
 public:
  explicit Workspaces(Device& device) : device_(device) {}

  // Lends at least this many bytes for launches on this stream, until the result is destroyed.
  // Calls on one stream get a block one after the other, so that the launches of two calls do not
  // mix. A captured call gets a block of its capture and stream, which stays as long as the graph:
  // graphs may run at the same time, and so may branches of one graph that come from several
  // streams.
  LentWorkspace lend(std::int64_t bytes, void* stream);

  std::size_t blocks() const;
  std::int64_t bytes() const;  // of all blocks, with those that graphs have outgrown

 private:
  friend class LentWorkspace;
  struct Block {
    explicit Block(Device& device) : done(device) {}
    std::mutex mutex;  // held by the call that uses the memory
    DeviceBuffer memory;
    OwnedEvent done;  // follows the last call, where `is_used`
    bool is_used = false;
    std::vector<DeviceBuffer> outgrown = {};  // a graph may use them
    std::atomic<std::int64_t> held = 0;       // bytes of all these, which any thread may ask for

    // Fields guarded by the mutex of all blocks.
    void* stream = nullptr;
    std::optional<std::uint64_t> capture;                   // the number of its graph
    std::shared_ptr<std::atomic<bool>> graph_is_gone = {};  // null: not asked for yet
    int users = 0;
    std::uint64_t last_use = 0;

    bool is_of_a_graph() const { return capture && !(graph_is_gone && *graph_is_gone); }
  };
  using Capture = std::optional<std::uint64_t>;

  Block& chosen_for(void* stream, const Capture& capture);
  Block* of_call(void* stream);
  Block* of_graph(std::uint64_t capture, void* stream);
  bool is_idle(const Block& block) const { return block.users == 0 && !block.is_of_a_graph(); }
  void keep_for_graph(Block& block, void* stream);
  void make_room(Block& block, std::int64_t bytes, bool is_captured);
  DeviceBuffer allocated(std::int64_t bytes, bool is_captured);
  void free_idle(std::uint64_t used_before);

  Device& device_;
  mutable std::mutex mutex_;
  std::list<Block> blocks_;  // an element stays where it is
  std::uint64_t lends_ = 0;
};

class LentWorkspace {
 public:
  LentWorkspace(const LentWorkspace&) = delete;
  LentWorkspace& operator=(const LentWorkspace&) = delete;
  ~LentWorkspace();

  DeviceAddress address() const { return block_.memory.address(); }

 private:
  friend class Workspaces;
  using Capture = Workspaces::Capture;
  LentWorkspace(Workspaces& from, Workspaces::Block& block, void* stream, const Capture& capture)
      : from_(from),
        block_(block),
        lock_(block.mutex),
        stream_(stream),
        is_captured_(capture.has_value()) {}
  LentWorkspace(Workspaces& from, std::int64_t bytes, void* stream, const Capture& capture);

  Workspaces& from_;
  Workspaces::Block& block_;
  std::unique_lock<std::mutex> lock_;
  void* const stream_;
  const bool is_captured_;
};

}  // namespace tessera::gemm
