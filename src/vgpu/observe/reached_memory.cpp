#include "vgpu/observe/reached_memory.h"

#include <algorithm>
#include <bit>

#include "vgpu/observe/observers.h"
#include "vgpu/program/launch_context.h"

namespace tessera::vgpu {
namespace {

void raise(std::atomic<std::uint64_t>& to, std::uint64_t value) {
  std::uint64_t now = to.load(std::memory_order_relaxed);
  while (now < value && !to.compare_exchange_weak(now, value, std::memory_order_relaxed)) {
  }
}

class ReachRecorder : public Observer {
 public:
  explicit ReachRecorder(ReachedMemory& reached) : reached_(reached) {}

  void access(const WarpAccess& access) override {
    if (access.window != Window::kGlobal) return;
    for (std::uint32_t left = access.by.mask; left != 0; left &= left - 1) {
      mark(access.address[std::countr_zero(left)], access.bytes, access.kind);
    }
  }
  void agent_access(const AgentAccess& access) override {
    if (access.window == Window::kGlobal) mark(access.address, access.bytes, access.kind);
  }

 private:
  void mark(std::uint64_t address, std::uint64_t bytes, AccessKind kind) {
    if (kind != AccessKind::kStore) reached_.mark(address, bytes, false);
    if (kind != AccessKind::kLoad) reached_.mark(address, bytes, true);
  }

  ReachedMemory& reached_;
};

class ReachRecorders : public LaunchObserver {
 public:
  explicit ReachRecorders(ReachedMemory& reached) : reached_(reached) {}
  std::unique_ptr<Observer> for_worker() override {
    return std::make_unique<ReachRecorder>(reached_);
  }
  void report(LaunchReport&) override {}

 private:
  ReachedMemory& reached_;
};

}  // namespace

void ReachedMemory::begin(const GlobalMemory& memory) {
  all_.clear();
  for (const MemoryBlock& block : memory.blocks()) {
    all_.push_back(std::make_unique<Reach>());
    all_.back()->base = block.base;
    all_.back()->bytes = block.bytes;
  }
}

ReachedMemory::Reach* ReachedMemory::find(std::uint64_t address) const {
  const auto after =
      std::upper_bound(all_.begin(), all_.end(), address,
                       [](std::uint64_t a, const auto& reach) { return a < reach->base; });
  if (after == all_.begin()) return nullptr;
  Reach* reach = (after - 1)->get();
  return address - reach->base < reach->bytes ? reach : nullptr;
}

void ReachedMemory::mark(std::uint64_t address, std::uint64_t bytes, bool writes) {
  Reach* reach = find(address);
  if (reach == nullptr || bytes == 0) return;
  raise(writes ? reach->written : reach->read, address - reach->base + bytes);
}

std::unique_ptr<LaunchObserver> make_reach_recorder(const LaunchContext& context) {
  ReachedMemory& reached = *context.observation.reached;
  reached.begin(*context.memory);
  return std::make_unique<ReachRecorders>(reached);
}

}  // namespace tessera::vgpu
