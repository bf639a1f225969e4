// A batch stays in the queue until its copies are done and, if there is an observer, until its
// lanes have waited for it. Under the lazy schedule the copies are done inside the wait.
#include "vgpu/async/copy_async.h"

#include <cstring>

#include "vgpu/async/parts.h"

namespace tessera::vgpu {
namespace {

void copy(const CopyBatch& batch, int lane) {
  std::byte* to = batch.to[lane].host;
  const std::uint32_t bytes = batch.from_bytes[lane];
  if (bytes != 0) std::memcpy(to, batch.from[lane], bytes);
  std::memset(to + bytes, 0, batch.bytes - bytes);
}

}  // namespace

void CopyQueue::clear() {
  batches_.clear();
  std::memset(committed_, 0, sizeof committed_);
}

void CopyQueue::add(AsyncWarp& warp, const CopyBatch& batch) {
  const bool lazy = warp.cta().cluster().is_lazy();
  const bool watched = warp.cta().observer() != nullptr;
  if (!lazy && !watched && !batch.arrives) {
    return for_each_lane(batch.mask, [&](int lane) { copy(batch, lane); });
  }
  CopyBatch& added = batches_.emplace_back(batch);
  added.all = batch.mask;
  for_each_lane(batch.mask, [&](int lane) { added.group[lane] = committed_[lane]; });
  if (lazy) return;
  finish(warp, batches_.size() - 1, added.mask);
  prune(watched);
}

void CopyQueue::commit(std::uint32_t mask) {
  for_each_lane(mask, [&](int lane) { ++committed_[lane]; });
}

void CopyQueue::finish(AsyncWarp& warp, std::size_t position, std::uint32_t mask) {
  CopyBatch& batch = batches_[position];
  mask &= batch.mask;
  batch.mask &= ~mask;
  for_each_lane(mask, [&](int lane) {
    if (batch.arrives) {
      arrive(warp, position, lane);
    } else {
      copy(batch, lane);
    }
  });
}

// First completes the lane's earlier copies. The arrival reports their agents to the observer.
void CopyQueue::arrive(AsyncWarp& warp, std::size_t position, int lane) {
  const std::uint32_t bit = std::uint32_t{1} << lane;
  std::vector<AgentId> agents;
  for (std::size_t i = 0; i < position; ++i) {
    CopyBatch& before = batches_[i];
    if (before.arrives || !(before.all & bit)) continue;
    finish(warp, i, bit);
    if (!(before.awaited & bit)) agents.push_back(before.agent);
    before.awaited |= bit;
  }
  const CopyBatch& batch = batches_[position];
  const Site site{&warp, batch.op, lane};
  warp.cta().cluster().mbarriers().arrive_for(site, batch.to[lane], agents);
}

void CopyQueue::await(AsyncWarp& warp, const Op& op, CopyBatch& batch, std::uint32_t mask) {
  mask &= batch.all & ~batch.awaited;
  batch.awaited |= mask;
  Observer* observer = warp.cta().observer();
  if (observer && mask != 0) observer->agent_awaited(warp.actor(op, mask), batch.agent, false);
}

void CopyQueue::wait(AsyncWarp& warp, const Op& op, std::uint32_t mask, std::uint32_t pending) {
  for (std::size_t i = 0; i < batches_.size(); ++i) {
    if (batches_[i].arrives) continue;
    std::uint32_t due = 0;
    for_each_lane(mask & batches_[i].all, [&](int lane) {
      const bool newest = batches_[i].group[lane] + std::uint64_t{pending} >= committed_[lane];
      if (!newest) due |= std::uint32_t{1} << lane;
    });
    finish(warp, i, due);
    await(warp, op, batches_[i], due);
  }
  prune(warp.cta().observer() != nullptr);
}

void CopyQueue::wait_all(AsyncWarp& warp, const Op& op, std::uint32_t mask) {
  commit(mask);
  wait(warp, op, mask, 0);
}

bool CopyQueue::arrive_late(AsyncWarp& warp) {
  for (std::size_t i = 0; i < batches_.size(); ++i) {
    if (!batches_[i].arrives || batches_[i].mask == 0) continue;
    finish(warp, i, batches_[i].mask);
    prune(warp.cta().observer() != nullptr);
    return true;
  }
  return false;
}

void CopyQueue::prune(bool watched) {
  const auto is_over = [watched](const CopyBatch& batch) {
    return batch.mask == 0 && (batch.arrives || !watched || batch.awaited == batch.all);
  };
  while (!batches_.empty() && is_over(batches_.front())) batches_.pop_front();
}

}  // namespace tessera::vgpu
