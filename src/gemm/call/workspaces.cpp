#include "gemm/call/workspaces.h"

#include <algorithm>
#include <limits>

namespace tessera::gemm {
namespace {

// If there are this many blocks that do not belong to graphs, an idle block is lent before a new
// block is made. So this many calls on different streams can run on the GPU at a time.
constexpr std::size_t kMostBlocks = 8;
// Blocks that none of the last kUnusedCalls calls has used are freed.
constexpr std::uint64_t kUnusedCalls = 1024;

}  // namespace

// of_call() and of_graph() expect that the caller holds mutex_. Null: a new block is needed.
Workspaces::Block* Workspaces::of_call(void* stream) {
  Block* chosen = nullptr;
  std::size_t count = 0;
  for (Block& block : blocks_) {
    if (block.capture) continue;
    ++count;
    if (block.stream == stream) chosen = &block;
  }
  if (chosen || count < kMostBlocks) return chosen;
  for (Block& block : blocks_) {
    const bool is_older = !chosen || block.last_use < chosen->last_use;
    if (!block.capture && is_idle(block) && is_older) chosen = &block;
  }
  return chosen;
}

// The block of this capture and stream, else a block of a graph that no longer exists, else null.
Workspaces::Block* Workspaces::of_graph(std::uint64_t capture, void* stream) {
  Block* chosen = nullptr;
  for (Block& block : blocks_) {
    if (!block.capture) continue;
    if (block.is_of_a_graph() && *block.capture == capture && block.stream == stream) {
      return &block;
    }
    if (is_idle(block)) chosen = &block;
  }
  return chosen;
}

Workspaces::Block& Workspaces::chosen_for(void* stream, const Capture& capture) {
  const std::lock_guard lock(mutex_);
  ++lends_;
  if (!capture && lends_ > kUnusedCalls && lends_ % kUnusedCalls == 0) {
    free_idle(lends_ - kUnusedCalls);
  }
  Block* chosen = capture ? of_graph(*capture, stream) : of_call(stream);
  if (!chosen) chosen = &blocks_.emplace_back(device_);
  if (capture && !chosen->is_of_a_graph()) {
    chosen->capture = capture;
    chosen->graph_is_gone.reset();
  }
  chosen->stream = stream;
  chosen->last_use = lends_;
  ++chosen->users;
  return *chosen;
}

// Watches for the end of a graph, when a block is first lent to the graph's capture. WHY not in
// chosen_for(): this may throw, and then ~LentWorkspace() must give the block back.
void Workspaces::keep_for_graph(Block& block, void* stream) {
  const auto is_gone = std::make_shared<std::atomic<bool>>(true);
  {
    const std::lock_guard lock(mutex_);
    block.graph_is_gone = is_gone;
  }
  device_.when_graph_is_gone(stream, [is_gone] { *is_gone = true; });
  *is_gone = false;
}

// Frees idle blocks that were last lent before call number `used_before`. Expects that the caller
// holds mutex_. WHY wait for a block's event: launches may still use the memory.
void Workspaces::free_idle(std::uint64_t used_before) {
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    const auto next = std::next(block);
    if (is_idle(*block) && block->last_use < used_before) {
      if (block->is_used) device_.wait_for(block->done.get());
      blocks_.erase(block);
    }
    block = next;
  }
}

// Allocates device memory. If there is not enough, frees all idle blocks and tries again.
DeviceBuffer Workspaces::allocated(std::int64_t bytes, bool is_captured) {
  try {
    return DeviceBuffer(device_, static_cast<std::size_t>(bytes));
  } catch (const OutOfMemory&) {
    if (is_captured) throw;  // free_idle() may wait, which would end the capture
    {
      const std::lock_guard lock(mutex_);
      free_idle(std::numeric_limits<std::uint64_t>::max());
    }
    return DeviceBuffer(device_, static_cast<std::size_t>(bytes));
  }
}

void Workspaces::make_room(Block& block, std::int64_t bytes, bool is_captured) {
  if (static_cast<std::int64_t>(block.memory.bytes()) >= bytes) return;
  if (is_captured) {
    block.outgrown.push_back(std::move(block.memory));
  } else {
    if (block.is_used) device_.wait_for(block.done.get());
    block.held -= static_cast<std::int64_t>(block.memory.bytes());
  }
  block.is_used = false;
  block.memory = DeviceBuffer();
  block.memory = allocated(bytes, is_captured);
  block.held += static_cast<std::int64_t>(block.memory.bytes());
}

LentWorkspace Workspaces::lend(std::int64_t bytes, void* stream) {
  return LentWorkspace(*this, bytes, stream, device_.capture_of(stream));
}

// WHY delegate to the other constructor: if the body below throws, the destructor still runs, and
// gives the block back.
LentWorkspace::LentWorkspace(Workspaces& from, std::int64_t bytes, void* stream,
                             const Capture& capture)
    : LentWorkspace(from, from.chosen_for(stream, capture), stream, capture) {
  if (capture && !block_.graph_is_gone) from_.keep_for_graph(block_, stream);
  from_.make_room(block_, bytes, is_captured_);
  if (block_.is_used) from_.device_.wait(stream, block_.done.get());
}

LentWorkspace::~LentWorkspace() {
  if (!is_captured_ && block_.memory.bytes() > 0) {
    try {
      from_.device_.record(block_.done.get(), stream_);
      block_.is_used = true;
    } catch (const StatusError&) {
      // WHY ignore the error: a destructor must not throw, and a failed device has already reported
      // its error.
    }
  }
  lock_.unlock();
  const std::lock_guard lock(from_.mutex_);
  --block_.users;
}

std::size_t Workspaces::blocks() const {
  const std::lock_guard lock(mutex_);
  return blocks_.size();
}

std::int64_t Workspaces::bytes() const {
  const std::lock_guard lock(mutex_);
  std::int64_t sum = 0;
  for (const Block& block : blocks_) sum += block.held;
  return sum;
}

}  // namespace tessera::gemm
