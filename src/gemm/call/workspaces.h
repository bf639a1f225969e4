// A handle lends a workspace to each call that has none. It keeps few blocks of device memory for
// any number of streams. Before a block is used again, the stream of the new call waits for an
// event that was recorded after the launches of the block's previous call. So a stream may be
// destroyed at any time, even if a new stream then gets the address of the old stream.
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

// Several threads may use one object. The destructor frees all blocks; the owner must make sure
// that no launch on the GPU uses a block any more.
class Workspaces {
 public:
  explicit Workspaces(Device& device) : device_(device) {}

  // Lends at least `bytes` bytes for launches on `stream`, until the result is destroyed. If two
  // threads call for one stream, the second waits until the block is given back, so that launches
  // of two calls do not mix. During a capture, the block belongs to the capture and stream as long
  // as the graph exists. WHY: graphs may run at the same time, and so may branches of one graph
  // that were captured from different streams.
  LentWorkspace lend(std::int64_t bytes, void* stream);

  std::size_t blocks() const;
  std::int64_t bytes() const;  // of all blocks, including the outgrown memory of graphs

 private:
  friend class LentWorkspace;
  struct Block {
    explicit Block(Device& device) : done(device) {}
    std::mutex mutex;  // held by the call that uses the memory
    DeviceBuffer memory;
    OwnedEvent done;  // if is_used: recorded after the launches of the block's last call
    bool is_used = false;
    std::vector<DeviceBuffer> outgrown = {};  // replaced by larger memory; a graph may use them
    std::atomic<std::int64_t> held = 0;       // bytes of memory and outgrown; read without `mutex`

    // Workspaces::mutex_ guards the fields below.
    void* stream = nullptr;
    std::optional<std::uint64_t> capture;                   // number of the block's capture
    std::shared_ptr<std::atomic<bool>> graph_is_gone = {};  // null: not yet watched
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
  std::list<Block> blocks_;  // WHY a list: references to blocks stay valid
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
