// The wgmma of one warp: asynchronous products in groups (PTX ISA, wgmma.mma_async).
//
// Under the eager schedule a product is computed when it is issued, under the lazy
// schedule inside the wait for its group. If there is an observer, the queue also
// reports the memory that products read, and misuse of registers, fences and
// descriptors.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "vgpu/async/wgmma/wgmma_work.h"
#include "vgpu/report/observer.h"

namespace tessera::vgpu {

// ---- for operations -----------------------------------------------------------------------------

// The index of the warp in its CTA.
int warp_index(const Lanes& lanes);
void issue_wgmma(Lanes& lanes, const Op& op, const WgmmaWork& work, WgmmaRun run);
void fence_wgmma(Lanes& lanes, const Op& op);
void commit_wgmma(Lanes& lanes, const Op& op);
void wait_wgmma(Lanes& lanes, const Op& op);
// Called when an ordinary instruction reads or writes the op.immediate registers in its list. A
// product that uses them may be in flight, or may be issued later.
void touch_wgmma_registers(const Op* first, const Op* last, Lanes& lanes);

// ---- the queue of a warp ------------------------------------------------------------------------

class WgmmaQueue {
 public:
  void clear();
  void issue(Lanes& lanes, const Op& op, const WgmmaWork& work, WgmmaRun run);
  void fence(Lanes& lanes, const Op& op);
  void commit() { ++committed_; }
  // Completes all groups but the newest `pending`.
  void wait(Lanes& lanes, const Op& op, std::uint32_t pending);
  void touch(Lanes& lanes, const Op& op);
  // For the first warp of a warpgroup: the oldest wgmma that some warps of the group have issued
  // and others, which have ended, have not; kNoInstruction if there is none.
  std::uint32_t lonely_issue() const {
    return issues_.empty() ? kNoInstruction : issues_.front().instruction;
  }
  static constexpr std::uint32_t kNoInstruction = ~std::uint32_t{0};
  std::uint64_t issued() const { return issued_; }

 private:
  struct Product {
    WgmmaWork work;
    WgmmaRun run = nullptr;  // null once it has happened
    std::uint32_t instruction = 0;
    std::uint64_t group = 0, number = 0;
    AgentId agent = 0;
    bool fenced = false;  // a wgmma.fence came after it
  };
  // What must be the same in all four warps of a warpgroup.
  struct Issue {
    std::uint32_t instruction = 0;
    bool accumulate = false;
    std::uint64_t a_descriptor = 0, b_descriptor = 0;
    bool operator==(const Issue&) const = default;
  };

  void tell(Lanes& lanes, const Op& op, Product& product);
  void cover_siblings(Lanes& lanes, const Op& op, std::uint64_t from, std::uint64_t until);
  void happen(std::uint64_t until);
  void check_fence(Lanes& lanes, const Op& op, const WgmmaWork& work);
  bool is_moved_behind_fence(const Lanes& lanes, std::uint32_t offset,
                             std::uint32_t instruction) const;
  void check_flight(Lanes& lanes, const Op& op, const WgmmaWork& work);
  void check_warpgroup(Lanes& lanes, const Op& op, const WgmmaWork& work);
  // Returns the product in flight that uses this register of the frame; null if there is none.
  const Product* owner(const std::byte* registers, std::uint32_t offset) const;

  std::deque<Product> products_;  // pending ones, the oldest first
  // The last products that this warp has waited for: number and agent.
  std::deque<std::pair<std::uint64_t, AgentId>> awaited_;
  std::uint64_t committed_ = 0;  // groups
  std::uint64_t queued_ = 0;     // products so far
  AgentId agent_ = 0;            // the agent of the open group
  std::uint64_t agent_group_ = 0;
  bool fenced_ = false;  // since the warp began
  // Registers that ordinary instructions have used since the last fence, and these instructions.
  std::unordered_map<std::uint32_t, std::uint32_t> touched_;
  // Whether a product has used a register since the last fence, by index of the register.
  std::vector<bool> used_;
  std::uint64_t issued_ = 0;
  std::deque<Issue> issues_;  // in the queue of the warpgroup's first warp
  std::uint64_t first_issue_ = 0;
};

}  // namespace tessera::vgpu
