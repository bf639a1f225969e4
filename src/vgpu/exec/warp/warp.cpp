// The warp executor: it runs basic blocks, and handles branches, divergence and the end of threads.
#include "vgpu/exec/warp/warp.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "vgpu/exec/cluster.h"
#include "vgpu/exec/guard.h"

namespace tessera::vgpu {
namespace {

// After this many backward branches, a split (lanes at one instruction) lets others run: it may be
// waiting for them. Fewer if other lanes of its warp can run: a lock may pass from lane to lane.
constexpr std::uint32_t kBackwardBranches = 1 << 14;
constexpr std::uint32_t kBackwardBranchesAmongSplits = 1 << 10;

// One in this many backward branches that may spin is followed by a check whether anything changes.
constexpr std::uint32_t kJumpsBetweenLooks = 64;

}  // namespace

Warp::Warp(Cta& cta, std::uint32_t index) : AsyncWarp(cta, index), cta_(cta) {
  frames_.push_back(std::make_unique<Frame>(cta.kernel().functions[0]));
  frames_[0]->local_end = cta.kernel().functions[0].local_bytes;
  splits_.reserve(2 * kLanes);
  reserve_local(frames_[0]->local_end);
}

void Warp::start() {
  const std::uint32_t threads = std::min<std::uint32_t>(kLanes, cta_.threads() - index_ * kLanes);
  live_ = threads == kLanes ? kAllLanes : (std::uint32_t{1} << threads) - 1;
  started_ = live_;
  Frame& frame = *frames_[0];
  frame.lanes = live_;
  frame.forget();
  fill_constants(frame, cta_.rank());
  fill_place(frame, cta_.place_of(index_));
  const UndefinedBits& undefined = cta_.cluster().context().observation.undefined;
  std::memset(local_.get(), undefined.local, std::size_t{frame.local_end} * kLanes);
  std::memset(frame.call_params.get(), 0xff,
              std::size_t{frame.function->call_param_bytes} * kLanes);
  cluster_arrived_ = cluster_open_ = 0;
  products_ = 0;
  copies().clear();
  register_moves_.clear();
  wgmma().clear();
  bulk_groups() = {};
  splits_.clear();
  Split split;
  split.mask = live_;
  split.frame = &frame;
  splits_.push_back(split);
}

// ---- choice of the next split -------------------------------------------------------------------

bool Warp::can_run() const {
  return std::any_of(splits_.begin(), splits_.end(),
                     [](const Split& split) { return split.wait == Wait::kNone; });
}

void Warp::run() {
  turn_over_ = false;
  while (!turn_over_) {
    if (splits_.size() > 1) merge();
    Split* split = pick();
    if (split) {
      run_split(static_cast<std::size_t>(split - splits_.data()));
    } else if (!wake_collectives()) {
      break;
    }
  }
  for (Split& split : splits_) split.deferred = false;
}

Split* Warp::pick() {
  Split* best = nullptr;
  for (Split& split : splits_) {
    if (split.wait != Wait::kNone || split.deferred) continue;
    const auto precedes = [&] {
      if (split.frame->depth != best->frame->depth) return split.frame->depth > best->frame->depth;
      return split.block < best->block;
    };
    if (!best || precedes()) best = &split;
  }
  return best;
}

void Warp::merge() {
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    for (std::size_t j = splits_.size(); --j > i;) {
      Split& a = splits_[i];
      const Split& b = splits_[j];
      if (a.block != b.block || a.frame != b.frame || a.wait != b.wait) continue;
      if (a.wait == Wait::kBarrier || a.wait == Wait::kMbarrier) continue;
      a.mask |= b.mask;
      a.deferred &= b.deferred;
      splits_.erase(splits_.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
}

// Runs a waiting *.sync whose member lanes have all arrived or exited. Returns whether it did.
bool Warp::wake_collectives() {
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    if (splits_[i].wait == Wait::kCollective && try_collective(i)) return true;
  }
  return false;
}

// ---- running ------------------------------------------------------------------------------------

void Warp::enter(const Split& split) {
  Lanes& lanes = cta_.lanes();
  const Frame& frame = *split.frame;
  lanes.warp = this;
  lanes.mask = split.mask;
  lanes.registers = frame.registers.get();
  lanes.call_params = frame.call_params.get();
  lanes.call_param_bytes = frame.function->call_param_bytes;
  lanes.local = local_.get();
  lanes.local_stride = local_stride_;
  lanes.local_bytes = frame.local_end;
  lanes.operand_lists = frame.function->operand_lists.data();
}

void Warp::run_split(std::size_t index) {
  Lanes& lanes = cta_.lanes();
  enter(splits_[index]);
  if (splits_[index].turn == 0) {
    splits_[index].turn = splits_.size() == 1 ? kBackwardBranches : kBackwardBranchesAmongSplits;
  }
  for (;;) {
    const Split& split = splits_[index];
    const Frame* frame = split.frame;
    const Function& function = *frame->function;
    const BasicBlock& block = function.blocks[split.block];
    InstructionCounter& counter = cta_.block_counter(block.counter);
    ++counter.warp;
    counter.thread += static_cast<std::uint64_t>(std::popcount(lanes.mask));
    const Op* ops = function.ops.data();
    for (std::uint32_t s = block.first_stretch; s != block.last_stretch; ++s) {
      const Stretch& stretch = function.stretches[s];
      ops[stretch.first].run(ops + stretch.first, ops + stretch.last, lanes);
    }
    leave_block(index, block.control);
    // The only split that is left may not be the one that ran: that one may
    // have exited or merged.
    if (splits_.size() != 1 || index != 0) return;
    const Split& next = splits_[0];
    if (next.wait != Wait::kNone || next.deferred || turn_over_) return;
    if (next.frame != frame) enter(next);
    lanes.mask = next.mask;
  }
}

void Warp::count(const Control& control, std::uint32_t mask) {
  if (!control.has_instruction) return;
  InstructionCounter& counter = cta_.instruction_counter(control.op.instruction);
  ++counter.warp;
  counter.thread += static_cast<std::uint64_t>(std::popcount(mask));
}

void Warp::leave_block(std::size_t index, const Control& control) {
  Split& split = splits_[index];
  if (control.guarded) {
    const std::uint32_t active = guarded_mask(control.op, cta_.lanes());
    if (active != split.mask) {
      Split rest = split;
      rest.mask = split.mask & ~active;
      ++rest.block;
      if (active == 0) {
        split = rest;
        return;
      }
      split.mask = active;
      add_split(rest);
    }
  }
  // An instruction that must wait for other lanes is counted when it runs.
  const bool waits =
      control.kind == ControlKind::kCollective || control.kind == ControlKind::kWarpgroup;
  if (!waits) count(control, split.mask);
  switch (control.kind) {
    case ControlKind::kFall:
      ++split.block;
      return;
    case ControlKind::kBranch:
      return jump(split, control.targets[0]);
    case ControlKind::kBranchTable:
      return branch_by_table(index, control);
    case ControlKind::kCall:
      return call(index, control);
    case ControlKind::kReturn:
      return return_from(index);
    case ControlKind::kExit:
      return exit(index);
    case ControlKind::kBarrier:
      return wait_at_barrier(index, control);
    case ControlKind::kClusterArrive:
      return arrive_at_cluster(index, control);
    case ControlKind::kClusterWait:
      return wait_at_cluster(index, control);
    case ControlKind::kMbarrierWait:
      return wait_at_mbarrier(index);
    case ControlKind::kWarpgroup:
    case ControlKind::kCollective:
      split.wait = Wait::kCollective;
      merge();
      wake_collectives();
      return;
    case ControlKind::kYield:
      split.deferred = true;
      ++split.block;
      return;
    case ControlKind::kSystemCall:
      return system_call(split, control);
    case ControlKind::kTrap:
      fault(FaultKind::kTrap, "the kernel stopped itself", control.op,
            std::countr_zero(split.mask));
  }
}

void Warp::jump(Split& split, std::uint32_t target) {
  if (target <= split.block) {
    const bool spins_now = control_of(split).may_spin && spins();
    if (--split.turn == 0 || spins_now) {
      split.deferred = true;
      cta_.cluster().note_long_turn();
    }
  }
  split.block = target;
}

// Whether an iteration of the loop has changed nothing. Then the loop can end only after a value
// that it reads has changed.
bool Warp::spins() {
  const std::uint32_t jump = spin_jumps_++ % kJumpsBetweenLooks;
  if (jump > 1) return false;
  const std::uint64_t before = std::exchange(spin_state_, state(0));
  return jump == 1 && spin_state_ == before;
}

void Warp::branch_by_table(std::size_t index, const Control& control) {
  const auto* indices = reinterpret_cast<const std::uint32_t*>(
      splits_[index].frame->registers.get() + control.op.operand[0]);
  std::uint32_t left = splits_[index].mask;
  while (left != 0) {
    const int lane = std::countr_zero(left);
    if (indices[lane] >= control.targets.size()) {
      fault(FaultKind::kOutOfBounds,
            "the index " + std::to_string(indices[lane]) + " is beyond the branch table",
            control.op, lane);
    }
    std::uint32_t same = 0;
    for (int l = 0; l < kLanes; ++l) {
      if (left >> l & 1 && indices[l] == indices[lane]) same |= std::uint32_t{1} << l;
    }
    left &= ~same;
    Split part = splits_[index];
    part.mask = same;
    jump(part, control.targets[indices[lane]]);
    if (left == 0) {
      splits_[index] = part;
    } else {
      add_split(part);
    }
  }
}

void Warp::exit(std::size_t index) {
  if (Observer* observer = cta_.observer()) {
    observer->warp_exits(actor(control_of(splits_[index]).op, splits_[index].mask));
  }
  notice_barrier_bypass(splits_[index]);
  const std::uint32_t mask = splits_[index].mask;
  live_ &= ~mask;
  splits_.erase(splits_.begin() + static_cast<std::ptrdiff_t>(index));
  cta_.cluster().transfers().lanes_exit(*this, mask);
  cta_.cluster().threads_exit(static_cast<std::uint32_t>(std::popcount(mask)),
                              static_cast<std::uint32_t>(std::popcount(mask & cluster_arrived_)));
  cluster_arrived_ &= ~mask;
  if (live_ == 0) {
    frames_.resize(1);
    cta_.warp_finished();
  } else {
    arrive_without_exited();
  }
}

}  // namespace tessera::vgpu
