// A product stays in the queue until it is computed and, if there is an observer, until the warp
// has waited for its group.
#include "vgpu/async/wgmma/wgmma_queue.h"

#include <algorithm>
#include <optional>

#include "vgpu/async/parts.h"
#include "vgpu/async/wgmma/wgmma_findings.h"

namespace tessera::vgpu {
namespace {

// The maximum number of products that a warp remembers after waiting for them. The other warps of
// the warpgroup may not have waited for theirs yet.
constexpr std::size_t kRemembered = 512;

WgmmaQueue& queue_of(const Lanes& lanes) { return lanes.warp->wgmma(); }

// The index of a register in the frame. The registers of a wgmma have 32 bits.
std::size_t place_of(std::uint32_t offset) { return offset / (kLanes * sizeof(std::uint32_t)); }

// Whether the product may be computed later, in the wait: only in the entry function, since the
// frame of another function may be gone by then.
bool may_wait(const Lanes& lanes) {
  return lanes.operand_lists == lanes.warp->cta().kernel().functions[0].operand_lists.data();
}

}  // namespace

int warp_index(const Lanes& lanes) { return static_cast<int>(lanes.warp->index()); }

void issue_wgmma(Lanes& lanes, const Op& op, const WgmmaWork& work, WgmmaRun run) {
  queue_of(lanes).issue(lanes, op, work, run);
}
void fence_wgmma(Lanes& lanes, const Op& op) { queue_of(lanes).fence(lanes, op); }
void commit_wgmma(Lanes& lanes, const Op&) { queue_of(lanes).commit(); }
void wait_wgmma(Lanes& lanes, const Op& op) {
  queue_of(lanes).wait(lanes, op, static_cast<std::uint32_t>(op.immediate));
}
void touch_wgmma_registers(const Op* first, const Op* last, Lanes& lanes) {
  if (!lanes.observer) return;
  for (; first != last; ++first) queue_of(lanes).touch(lanes, *first);
}

void WgmmaQueue::clear() {
  products_.clear();
  awaited_.clear();
  touched_.clear();
  used_.clear();
  issues_.clear();
  committed_ = queued_ = issued_ = first_issue_ = 0;
  agent_ = 0;
  fenced_ = false;
}

void WgmmaQueue::issue(Lanes& lanes, const Op& op, const WgmmaWork& work, WgmmaRun run) {
  const bool lazy = lanes.warp->cta().cluster().is_lazy() && may_wait(lanes);
  if (!lazy && !lanes.observer) return run(work);
  if (lanes.observer) {
    check_wgmma_descriptors(lanes, op, work);
    check_fence(lanes, op, work);
    check_flight(lanes, op, work);
    check_warpgroup(lanes, op, work);
  }
  Product& product = products_.emplace_back();
  product.work = work;
  product.instruction = op.instruction;
  product.group = committed_;
  product.number = ++queued_;
  if (lanes.observer) tell(lanes, op, product);
  if (lazy) {
    product.run = run;
  } else {
    run(work);
  }
}

// All products of a group are one agent. Each product restarts the agent, so that the agent counts
// as ordered after all that the warp did before the product.
void WgmmaQueue::tell(Lanes& lanes, const Op& op, Product& product) {
  if (agent_ == 0 || agent_group_ != committed_) {
    agent_ = lanes.warp->cta().cluster().new_agent();
    agent_group_ = committed_;
  }
  product.agent = agent_;
  lanes.observer->agent_starts(lanes.warp->actor(op, lanes.mask), agent_, AgentKind::kMatrix);
  tell_fetches(lanes, op, product.work, agent_);
}

void WgmmaQueue::fence(Lanes& lanes, const Op& op) {
  if (!lanes.observer) return;
  lanes.observer->fence(lanes.warp->actor(op, lanes.mask), FenceKind::kWgmma, MemoryScope::kCta);
  fenced_ = true;
  touched_.clear();
  used_.clear();
  for (Product& product : products_) product.fenced = true;
}

void WgmmaQueue::wait(Lanes& lanes, const Op& op, std::uint32_t pending) {
  AgentId told = 0;
  std::uint64_t from = 0, until = 0;
  while (!products_.empty() && products_.front().group + pending < committed_) {
    const Product& product = products_.front();
    if (product.run) product.run(product.work);
    until = product.number;
    if (from == 0) from = until;
    if (lanes.observer) awaited_.emplace_back(product.number, product.agent);
    if (awaited_.size() > kRemembered) awaited_.pop_front();
    if (lanes.observer && product.agent != told) {
      told = product.agent;
      lanes.observer->agent_awaited(lanes.warp->actor(op, lanes.mask), told, false);
    }
    products_.pop_front();
  }
  if (until != 0 && lanes.warp->cta().cluster().context().observation.warpgroups_meet) {
    cover_siblings(lanes, op, from, until);
  }
}

// The products of a warpgroup are one operation and end together. So a warp that has waited for its
// own product knows that the other warps' fetches have ended, too.
void WgmmaQueue::cover_siblings(Lanes& lanes, const Op& op, std::uint64_t from,
                                std::uint64_t until) {
  AsyncCta& cta = lanes.warp->cta();
  const std::uint32_t first = lanes.warp->index() / kWarpsOfAGroup * kWarpsOfAGroup;
  for (std::uint32_t w = first; w < std::min(first + kWarpsOfAGroup, cta.warps()); ++w) {
    WgmmaQueue& sibling = cta.warp(w).wgmma();
    if (&sibling == this) continue;
    sibling.happen(until);
    if (!lanes.observer) continue;
    AgentId told = 0;
    const auto tell = [&](std::uint64_t number, AgentId agent) {
      if (number < from || number > until || agent == told) return;
      told = agent;
      lanes.observer->agent_covered(lanes.warp->actor(op, lanes.mask), agent);
    };
    for (const auto& [number, agent] : sibling.awaited_) tell(number, agent);
    for (const Product& product : sibling.products_) tell(product.number, product.agent);
  }
}

void WgmmaQueue::happen(std::uint64_t until) {
  for (Product& product : products_) {
    if (product.number > until || !product.run) continue;
    product.run(product.work);
    product.run = nullptr;
  }
}

// ---- errors -------------------------------------------------------------------------------------

const WgmmaQueue::Product* WgmmaQueue::owner(const std::byte* registers,
                                             std::uint32_t offset) const {
  for (const Product& product : products_) {
    if (product.work.registers != registers) continue;
    const auto all = registers_of(product.work);
    if (std::find(all.begin(), all.end(), offset) != all.end()) return &product;
  }
  return nullptr;
}

void WgmmaQueue::touch(Lanes& lanes, const Op& op) {
  const std::uint32_t* registers = lanes.operand_lists + op.list;
  bool noticed = false;
  for (std::int64_t i = 0; i < op.immediate; ++i) {
    touched_.emplace(registers[i], op.instruction);
    const Product* product = noticed ? nullptr : owner(lanes.registers, registers[i]);
    if (!product) continue;
    noticed = true;
    notice_wgmma(lanes, kRegisterInFlight,
                 {{op.instruction, "touched a register of it"},
                  {product->instruction, "issued here, not waited for"}});
  }
}

void WgmmaQueue::check_fence(Lanes& lanes, const Op& op, const WgmmaWork& work) {
  if (!fenced_) {
    notice_wgmma(lanes, kNoFirstFence, {{op.instruction, "the first wgmma of the warp"}});
    fenced_ = true;
    return;
  }
  std::optional<std::uint32_t> moved, touching;
  for (const std::uint32_t offset : registers_of(work)) {
    const auto touched = touched_.find(offset);
    if (touched == touched_.end()) continue;
    (is_moved_behind_fence(lanes, offset, touched->second) ? moved : touching) = touched->second;
    if (touching) break;
  }
  for (const std::uint32_t offset : registers_of(work)) {
    const std::size_t place = place_of(offset);
    if (used_.size() <= place) used_.resize(place + 1);
    used_[place] = true;
  }
  if (touching) {
    notice_wgmma(lanes, kNoFence,
                 {{op.instruction, "uses the register"}, {*touching, "touched it"}});
  } else if (moved) {
    notice_wgmma(lanes, kMoveBehindFence,
                 {{op.instruction, "uses the register"}, {*moved, "set it"}});
  }
}

// Whether the only error is a mov after the fence: no product has used the register since the
// fence.
bool WgmmaQueue::is_moved_behind_fence(const Lanes& lanes, std::uint32_t offset,
                                       std::uint32_t instruction) const {
  const AsyncCta& cta = lanes.warp->cta();
  const std::size_t place = place_of(offset);
  if (place < used_.size() && used_[place]) return false;
  return cta.cluster().context().observation.allows_moves_after_fence &&
         cta.kernel().instructions[instruction].form.starts_with("mov.");
}

// Products of one shape may follow each other on the same accumulator. Any other product in flight
// that uses registers of this one is an error.
void WgmmaQueue::check_flight(Lanes& lanes, const Op& op, const WgmmaWork& work) {
  const auto d = accumulators_of(work), a = factors_of(work);
  for (const Product& product : products_) {
    if (product.work.registers != work.registers) continue;
    const auto its = accumulators_of(product.work);
    const auto shares = [&](std::uint32_t offset) {
      return std::find(its.begin(), its.end(), offset) != its.end();
    };
    if (std::any_of(a.begin(), a.end(), shares)) {
      notice_wgmma(lanes, kRegisterInFlight,
                   {{op.instruction, "reads its result as A"},
                    {product.instruction, "issued here, not waited for"}});
      return;
    }
    const bool same = std::equal(its.begin(), its.end(), d.begin(), d.end()) &&
                      product.work.form.d == work.form.d;
    if (same || product.fenced || !std::any_of(d.begin(), d.end(), shares)) continue;
    notice_wgmma(lanes, kNoFenceBetweenShapes,
                 {{op.instruction, "accumulates in the register, in another shape"},
                  {product.instruction, "issued here, not waited for"}});
    return;
  }
}

void WgmmaQueue::check_warpgroup(Lanes& lanes, const Op& op, const WgmmaWork& work) {
  AsyncCta& cta = lanes.warp->cta();
  const std::uint32_t first = lanes.warp->index() / 4 * 4;
  if (first + 4 > cta.warps()) {
    notice_wgmma(lanes, kNoWarpgroup, {{op.instruction, "issued by a warp of it"}});
    return;
  }
  WgmmaQueue& shared = cta.warp(first).wgmma();
  const Issue issue{op.instruction, work.accumulate, work.a_descriptor, work.b_descriptor};
  const std::uint64_t number = issued_++;
  if (number - shared.first_issue_ == shared.issues_.size()) {
    shared.issues_.push_back(issue);
  } else if (const Issue& theirs = shared.issues_[number - shared.first_issue_]; theirs != issue) {
    notice_wgmma(lanes, kWarpgroupDiffers,
                 {{op.instruction, "issued by this warp"},
                  {theirs.instruction, "issued by another warp of it"}});
  }
  std::uint64_t all = issued_;
  for (std::uint32_t w = first; w < first + 4; ++w) {
    all = std::min(all, cta.warp(w).wgmma().issued_);
  }
  while (shared.first_issue_ < all) {
    shared.issues_.pop_front();
    ++shared.first_issue_;
  }
}

}  // namespace tessera::vgpu
