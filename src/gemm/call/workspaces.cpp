#include "gemm/call/workspaces.h"

#include <algorithm>
#include <limits>

namespace tessera::gemm {
namespace {

// Blocks that are not of graphs: as many calls on different streams run on the GPU at a time.
constexpr std::size_t kMostBlocks = 8;
// Calls after which a block that none of them used is freed.
constexpr std::uint64_t kUnusedCalls = 1024;

}  // namespace

Workspaces::Block& Workspaces::chosen_for(void* stream, bool is_captured) {
  const std::lock_guard lock(mutex_);
  ++lends_;
  if (!is_captured && lends_ > kUnusedCalls && lends_ % kUnusedCalls == 0) {
    free_idle(lends_ - kUnusedCalls);
  }
  Block* chosen = nullptr;
  std::size_t count = 0;
  for (Block& block : blocks_) {
    if (block.is_of_graphs != is_captured) continue;
    ++count;
    if (block.stream == stream) chosen = &block;
  }
  if (!chosen && !is_captured && count >= kMostBlocks) {
    for (Block& block : blocks_) {
      const bool is_older = !chosen || block.last_use < chosen->last_use;
      if (is_idle(block) && is_older) chosen = &block;
    }
  }
  if (!chosen) chosen = &blocks_.emplace_back(device_);
  chosen->stream = stream;
  chosen->is_of_graphs = is_captured;
  chosen->last_use = lends_;
  ++chosen->users;
  return *chosen;
}

// Expects the mutex. WHY with a wait: launches may still use the memory.
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

// Frees what no call uses where there is no memory otherwise.
DeviceBuffer Workspaces::allocated(std::int64_t bytes, bool is_captured) {
  try {
    return DeviceBuffer(device_, static_cast<std::size_t>(bytes));
  } catch (const OutOfMemory&) {
    if (is_captured) throw;  // a wait would end the capture
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
  return LentWorkspace(*this, bytes, stream, device_.is_capturing(stream));
}

// WHY by another constructor: what fails after that one gives the block back.
LentWorkspace::LentWorkspace(Workspaces& from, std::int64_t bytes, void* stream, bool is_captured)
    : LentWorkspace(from, from.chosen_for(stream, is_captured), stream, is_captured) {
  from_.make_room(block_, bytes, is_captured);
  if (block_.is_used) from_.device_.wait(stream, block_.done.get());
}

LentWorkspace::~LentWorkspace() {
  if (!is_captured_ && block_.memory.bytes() > 0) {
    try {
      from_.device_.record(block_.done.get(), stream_);
      block_.is_used = true;
    } catch (const StatusError&) {
      // WHY: a destructor may not throw, and a device that failed has already reported it.
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
