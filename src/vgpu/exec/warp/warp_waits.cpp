// Lanes that wait for other lanes of their warp (*.sync) or for other warps (barriers).
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "vgpu/exec/cluster.h"
#include "vgpu/exec/cta.h"
#include "vgpu/exec/warp/warp.h"
#include "vgpu/program/flags.h"

namespace tessera::vgpu {
namespace {

const std::uint32_t* words(const Frame& frame, std::uint32_t offset) {
  return reinterpret_cast<const std::uint32_t*>(frame.registers.get() + offset);
}

}  // namespace

// ---- *.sync -------------------------------------------------------------------------------------

// Runs the instruction for lanes whose member lanes have all arrived. Returns whether there are
// any.
bool Warp::try_collective(std::size_t index) {
  const Split waiting = splits_[index];
  const Control& control = control_of(waiting);
  if (control.member_mask_operand < 0 && live_ != kAllLanes) {
    fault(FaultKind::kBarrier, "all 32 lanes of the warp must run this", control.op,
          std::countr_zero(waiting.mask));
  }
  std::uint32_t ready = 0, named = 0;
  for (int l = 0; l < kLanes; ++l) {
    if (!(waiting.mask >> l & 1)) continue;
    std::uint32_t members = kAllLanes;
    if (control.member_mask_operand >= 0) {
      members = words(*waiting.frame, control.op.operand[control.member_mask_operand])[l];
      if (!(members >> l & 1)) {
        fault(FaultKind::kBarrier,
              fmt::format("the member mask {:#010x} leaves this lane out", members), control.op, l);
      }
    }
    if ((members & live_ & ~waiting.mask) != 0) continue;
    ready |= std::uint32_t{1} << l;
    named |= members;
  }
  if (ready == 0) return false;
  notice_missing_lanes(control, ready, named);
  if (ready != waiting.mask) {
    Split rest = waiting;
    rest.mask &= ~ready;
    add_split(rest);
  }
  Split& split = splits_[index];
  split.mask = ready;
  split.wait = Wait::kNone;
  count(control, ready);
  if (Observer* observer = cta_.observer()) {
    const Actor by = actor(control.op, ready);
    control.exchanges ? observer->warp_exchanges(by) : observer->warp_syncs(by);
  }
  if (control.op.run) {
    enter(split);
    Lanes& lanes = cta_.lanes();
    lanes.read_outside = 0;
    control.op.run(&control.op, &control.op + 1, lanes);
    if (lanes.read_outside != 0 && cta_.observer()) {
      cta_.observer()->reads_undefined(actor(control.op, lanes.read_outside),
                                       UndefinedSource::kShuffle);
    }
  }
  if (control.kind == ControlKind::kWarpgroup) {
    meet_warpgroup(split);
  } else {
    ++split.block;
  }
  return true;
}

// ---- wgmma --------------------------------------------------------------------------------------

// HW: a warp continues after a wgmma when the other three warps of its warpgroup have reached it
// (measured on an H200, see tests/vgpu/instructions/wgmma_meets.ptx).
void Warp::meet_warpgroup(Split& split) {
  if (!cta_.cluster().context().observation.warpgroups_meet) {
    ++split.block;
    return;
  }
  ++products_;
  split.wait = Wait::kWarpgroup;
  cta_.check_warpgroup(index_ / kWarpsOfAGroup);
}

void Warp::release_from_warpgroup(std::uint64_t least) {
  if (products_ > least) return;
  for (Split& split : splits_) {
    if (split.wait != Wait::kWarpgroup) continue;
    split.wait = Wait::kNone;
    ++split.block;
  }
}

// ---- barriers of the CTA ------------------------------------------------------------------------

std::uint32_t Warp::uniform(const Split& split, const Control& control, int operand) const {
  const std::uint32_t* values = words(*split.frame, control.op.operand[operand]);
  const int first = std::countr_zero(split.mask);
  for (int l = first; l < kLanes; ++l) {
    if (split.mask >> l & 1 && values[l] != values[first]) {
      fault(FaultKind::kBarrier,
            "the lanes of a warp name different barriers or numbers of threads", control.op, l);
    }
  }
  return values[first];
}

void Warp::wait_at_barrier(std::size_t index, const Control& control) {
  Split& split = splits_[index];
  const std::uint32_t barrier = uniform(split, control, 2);
  if (barrier >= kBarriers) {
    fault(FaultKind::kBarrier, fmt::format("barrier {} is beyond {}", barrier, kBarriers - 1),
          control.op, std::countr_zero(split.mask));
  }
  if (control.aligned && control.guarded && split.mask != live_) {
    fault_incomplete(split, live_ & ~split.mask);
  }
  split.wait = Wait::kBarrier;
  split.arrived = false;
  split.barrier = barrier;
  std::uint32_t here = 0;
  for (const Split& other : splits_) {
    if (other.wait != Wait::kBarrier || other.arrived || other.barrier != barrier) continue;
    if (control.aligned && control_of(other).op.instruction != control.op.instruction) {
      fault_incomplete(split, other.mask);
    }
    here |= other.mask;
  }
  if (here == live_) arrive(control, barrier);
}

// A barrier with .aligned needs all lanes of the warp at one instruction.
void Warp::fault_incomplete(const Split& split, std::uint32_t missing) const {
  fault(
      FaultKind::kBarrier,
      fmt::format("the lanes {:#010x} of the warp come to this barrier without the lanes {:#010x}; "
                  "all must come together",
                  split.mask, missing),
      control_of(split).op, std::countr_zero(split.mask));
}

// A barrier does not wait for lanes that have exited, whether they exit before or after the other
// lanes reach it.
void Warp::arrive_without_exited() {
  for (const Split& split : splits_) {
    if (split.wait != Wait::kBarrier || split.arrived) continue;
    std::uint32_t here = 0;
    for (const Split& other : splits_) {
      const bool same = other.wait == Wait::kBarrier && other.barrier == split.barrier;
      if (same && !other.arrived) here |= other.mask;
    }
    if (here == live_) arrive(control_of(split), split.barrier);
    return;
  }
}

// Returns the number of threads that all splits at the barrier name; 0 if they name none.
std::uint32_t Warp::expected_at(std::uint32_t id) const {
  bool is_first = true;
  std::uint32_t expected = 0;
  for (const Split& split : splits_) {
    if (split.wait != Wait::kBarrier || split.arrived || split.barrier != id) continue;
    const Control& control = control_of(split);
    const std::uint32_t named = control.has_count ? uniform(split, control, 3) : 0;
    if (control.has_count && named == 0) {
      fault(FaultKind::kBarrier, fmt::format("barrier {} is asked to wait for 0 threads", id),
            control.op, std::countr_zero(split.mask));
    }
    if (!is_first && named != expected) {
      fault(
          FaultKind::kBarrier,
          fmt::format("lanes of one warp come to barrier {} with different numbers of threads", id),
          control.op, std::countr_zero(split.mask));
    }
    expected = named;
    is_first = false;
  }
  return expected;
}

// All lanes of the warp have reached the barrier.
void Warp::arrive(const Control& control, std::uint32_t id) {
  Barrier& barrier = cta_.barrier(id);
  const std::uint32_t expected = expected_at(id);
  bool waits = false;
  for (const Split& split : splits_) {
    const BarrierKind kind = control_of(split).barrier;
    if (kind > BarrierKind::kArrive || control.barrier > BarrierKind::kArrive) {
      if (kind != control.barrier) {
        fault(FaultKind::kBarrier, "different kinds of barrier instructions meet", control.op,
              std::countr_zero(split.mask));
      }
    }
    waits |= kind != BarrierKind::kArrive;
  }
  const std::string wrong = barrier.arrive(control.barrier, expected, cta_.threads());
  if (!wrong.empty()) {
    fault(FaultKind::kBarrier, fmt::format("barrier {}: {}", id, wrong), control.op,
          std::countr_zero(live_));
  }
  cta_.cluster().mbarriers().tell(cta_.rank(), index_, id);
  for (Split& split : splits_) {
    split.arrived = true;
    const Control& its = control_of(split);
    if (Observer* observer = cta_.observer()) {
      observer->barrier_arrives(actor(its.op, split.mask), id);
    }
    if (its.barrier == BarrierKind::kArrive) {
      split.wait = Wait::kNone;
      ++split.block;
    } else if (its.barrier != BarrierKind::kSync) {
      const std::uint32_t predicate = words(*split.frame, its.op.operand[1])[0];
      barrier.trues += static_cast<std::uint32_t>(std::popcount(predicate & split.mask));
      barrier.threads += static_cast<std::uint32_t>(std::popcount(split.mask));
    }
  }
  // The other warps run before this warp continues, even if it was the last to arrive.
  if (waits) turn_over_ = true;
  cta_.check_barrier(id);
}

void Warp::release(std::uint32_t barrier, std::uint32_t result) {
  for (Split& split : splits_) {
    if (split.wait != Wait::kBarrier || !split.arrived || split.barrier != barrier) continue;
    cta_.cluster().mbarriers().hear(cta_.rank(), index_, barrier);
    const Control& control = control_of(split);
    if (Observer* observer = cta_.observer()) {
      observer->barrier_passes(actor(control.op, split.mask), barrier);
    }
    auto* to =
        reinterpret_cast<std::uint32_t*>(split.frame->registers.get() + control.op.operand[0]);
    if (control.barrier == BarrierKind::kPopc) {
      for (int l = 0; l < kLanes; ++l) {
        if (split.mask >> l & 1) to[l] = result;
      }
    } else if (control.barrier > BarrierKind::kPopc) {
      *to = (*to & ~split.mask) | (result ? split.mask : 0);
    }
    split.wait = Wait::kNone;
    ++split.block;
  }
}

const Op& Warp::place_of(const Split& split) const {
  const Function& function = *split.frame->function;
  const BasicBlock& block = function.blocks[split.block];
  const bool has_ops = block.first_stretch != block.last_stretch;
  if (split.wait != Wait::kNone || !has_ops) return block.control.op;
  return function.ops[function.stretches[block.first_stretch].first];
}

std::uint64_t Warp::state(std::uint64_t mixed) const {
  const auto mix = [&mixed](std::uint64_t x) {
    mixed = (mixed ^ x) * 0x9e3779b97f4a7c15;
    mixed ^= mixed >> 29;
  };
  for (const Split& split : splits_) {
    mix(split.mask);
    mix(split.block);
    mix(static_cast<std::uint64_t>(split.wait) << 32 | split.frame->depth);
  }
  if (finished()) return mixed;
  for (const auto& frame : frames_) {
    const std::byte* registers = frame->registers.get();
    for (std::uint32_t at = 0; at + 8 <= frame->function->frame_bytes; at += 8) {
      std::uint64_t word;
      std::memcpy(&word, registers + at, sizeof word);
      mix(word);
    }
  }
  return mixed;
}

std::string Warp::describe_waits() const {
  std::string text;
  for (const Split& split : splits_) {
    const auto& info = cta_.kernel().instructions[place_of(split).instruction];
    text += fmt::format("\n  warp {}: lanes {:#010x} {} PTX line {}: {}", index_, split.mask,
                        split.wait == Wait::kNone ? "run at" : "wait at", info.ptx_line, info.form);
    if (split.wait == Wait::kBarrier) text += fmt::format(" (barrier {})", split.barrier);
  }
  return text;
}

namespace {

// Returns the only load in the loop that ends with block `last`; null if there is not exactly one
// scalar ld.
const Op* only_load(const Kernel& kernel, const Function& function, std::uint32_t last) {
  const Op* only = nullptr;
  for (std::uint32_t b = function.blocks[last].control.targets[0]; b <= last; ++b) {
    const BasicBlock& block = function.blocks[b];
    for (std::uint32_t s = block.first_stretch; s < block.last_stretch; ++s) {
      const Stretch& stretch = function.stretches[s];
      for (std::uint32_t o = stretch.first; o < stretch.last; ++o) {
        const Op& op = function.ops[o];
        const InstructionInfo& info = kernel.instructions[op.instruction];
        if (info.touches != Touches::kLoads) continue;
        const bool is_vector = info.form.find(".v2") != std::string::npos ||
                               info.form.find(".v4") != std::string::npos;
        if (only || is_vector || !info.form.starts_with("ld.")) return nullptr;
        only = &op;
      }
    }
  }
  return only;
}

}  // namespace

// WHY from registers: the loop repeats its state, so each iteration has this address.
std::optional<Warp::SpinWord> Warp::spin_word() const {
  for (const Split& split : splits_) {
    if (split.wait != Wait::kNone) continue;
    const Function& function = *split.frame->function;
    for (std::uint32_t b = split.block; b < function.blocks.size(); ++b) {
      const Control& control = function.blocks[b].control;
      if (!control.may_spin || control.targets[0] > split.block) continue;
      const Op* load = only_load(cta_.kernel(), function, b);
      if (!load) continue;
      const int lane = std::countr_zero(split.mask);
      const std::uint32_t* registers = words(*split.frame, load->operand[1]);
      std::uint64_t address = registers[lane];
      if (load->flags & kAddress64) std::memcpy(&address, registers + 2 * lane, sizeof address);
      address += static_cast<std::uint64_t>(load->immediate);
      Window window = Window(load->flags & kWindowMask);
      if (window == Window::kGeneric) {
        const bool is_shared = address - kSharedWindow < kWindowBytes;
        window = is_shared ? Window::kShared : Window::kGlobal;
      }
      return SpinWord{load, lane, address, window};
    }
  }
  return std::nullopt;
}

void Warp::fault_at_wait(FaultKind kind, const std::string& message) const {
  fault(kind, message, place_of(splits_[0]), std::countr_zero(splits_[0].mask));
}

}  // namespace tessera::vgpu
