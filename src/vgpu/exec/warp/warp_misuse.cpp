// Reports code to observers that hardware often tolerates although PTX does not allow it.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "vgpu/async/site.h"
#include "vgpu/exec/cluster.h"

namespace tessera::vgpu {
namespace {

// Whether there is a path from block `from` to block `to`.
bool leads_to(const Function& function, std::uint32_t from, std::uint32_t to) {
  std::vector<bool> seen(function.blocks.size());
  std::vector<std::uint32_t> left = {from};
  while (!left.empty()) {
    const std::uint32_t at = left.back();
    left.pop_back();
    if (at >= seen.size() || seen[at]) continue;
    if (at == to) return true;
    seen[at] = true;
    const Control& control = function.blocks[at].control;
    left.insert(left.end(), control.targets.begin(), control.targets.end());
    const bool ends = control.kind == ControlKind::kBranch || control.kind == ControlKind::kExit ||
                      control.kind == ControlKind::kReturn ||
                      control.kind == ControlKind::kBranchTable;
    if (!ends || control.guarded) left.push_back(at + 1);
  }
  return false;
}

}  // namespace

// Reports a member mask with lanes that have exited and therefore cannot arrive.
void Warp::notice_missing_lanes(const Control& control, std::uint32_t ready,
                                std::uint32_t members) {
  const std::uint32_t missing = members & started_ & ~live_;
  if (missing == 0 || !cta_.observer()) return;
  const Site site{this, &control.op, std::countr_zero(ready)};
  site.notice("missing-lanes",
              fmt::format("The mask names the lanes {:#010x}, which have ended without coming here",
                          missing),
              "Name only the lanes that run this instruction, or let all of them run it");
}

// Reports a barrier if lanes exit beyond it while other lanes of their warp still wait at it: the
// exiting lanes have gone around the barrier.
void Warp::notice_barrier_bypass(const Split& leaving) {
  if (!cta_.observer()) return;
  const BasicBlock& last = leaving.frame->function->blocks[leaving.block];
  if (last.first_stretch == last.last_stretch) return;
  for (const Split& split : splits_) {
    if (split.wait != Wait::kBarrier || split.arrived || split.frame != leaving.frame) continue;
    const Control& control = control_of(split);
    if (!control.aligned) continue;
    if (!leads_to(*split.frame->function, split.block + 1, leaving.block)) continue;
    const Site site{this, &control.op, std::countr_zero(split.mask)};
    site.notice("barrier",
                fmt::format("Only the lanes {:#010x} of the warp come to this barrier, others go "
                            "around it",
                            split.mask),
                "Move the barrier out of the branch, so that all threads of the block reach it");
  }
}

// All warps of a warpgroup must run the same setmaxnreg instructions, with the same numbers.
void Cta::notice_uneven_register_moves() {
  for (std::uint32_t w = 0; w < warps(); ++w) {
    Warp& first = warps_[w / kWarpsOfAGroup * kWarpsOfAGroup];
    const auto& expected = first.register_moves();
    const auto& moves = warps_[w].register_moves();
    const auto same = [](const Op* a, const Op* b) { return a->immediate == b->immediate; };
    if (std::equal(moves.begin(), moves.end(), expected.begin(), expected.end(), same)) continue;
    Warp& more = moves.size() > expected.size() ? warps_[w] : first;
    const Site site{&more, more.register_moves().back(), 0};
    site.notice("setmaxnreg",
                fmt::format("Warp {} and warp {} of one warpgroup change their numbers of "
                            "registers in different ways",
                            first.index(), w),
                "Let all four warps of the warpgroup run the same setmaxnreg");
    return;
  }
}

// setmaxnreg.inc waits until the CTA has enough free registers, and only setmaxnreg.dec frees
// registers. The counts here are registers per lane, summed over warps.
void Cta::notice_missing_registers() {
  constexpr int kUnit = 8;  // HW: of a lane; a warp's registers come in units of 256
  const int at_launch = (context_.observation.registers + kUnit - 1) / kUnit * kUnit;
  if (at_launch == 0) return;
  // Registers are allocated for groups of four warps, so an incomplete last group leaves some free.
  const std::uint32_t whole = (warps() + kWarpsOfAGroup - 1) / kWarpsOfAGroup * kWarpsOfAGroup;
  int left = at_launch * static_cast<int>(whole - warps());
  std::vector<int> has(warps(), at_launch);
  std::vector<std::size_t> next(warps(), 0);
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (std::uint32_t w = 0; w < warps(); ++w) {
      const std::vector<const Op*>& moves = warps_[w].register_moves();
      if (next[w] == moves.size()) continue;
      const int more = static_cast<int>(moves[next[w]]->immediate) - has[w];
      if (more > left) continue;
      left -= more;
      has[w] += more;
      ++next[w];
      goes_on = true;
    }
  }
  for (std::uint32_t w = 0; w < warps(); ++w) {
    if (next[w] == warps_[w].register_moves().size()) continue;
    const Op* stuck = warps_[w].register_moves()[next[w]];
    const Site site{&warps_[w], stuck, 0};
    site.notice(
        "setmaxnreg",
        fmt::format("Warp {} waits for {} registers a thread, and the block never has as many: it "
                    "was launched with {} for each of its {} threads",
                    w, stuck->immediate, at_launch, threads()),
        fmt::format("Let the numbers of all warpgroups add up to at most {}, {} times {}",
                    at_launch * static_cast<int>(whole / kWarpsOfAGroup), whole / kWarpsOfAGroup,
                    at_launch));
    return;
  }
}

// wgmma is .sync.aligned: all four warps of a warpgroup must run it.
void Cta::notice_lonely_products() {
  for (std::uint32_t first = 0; first + kWarpsOfAGroup <= warps(); first += kWarpsOfAGroup) {
    const std::uint32_t lonely = warps_[first].wgmma().lonely_issue();
    if (lonely == WgmmaQueue::kNoInstruction) continue;
    std::uint32_t most = first, least = first;
    for (std::uint32_t w = first; w < first + kWarpsOfAGroup; ++w) {
      if (warps_[w].wgmma().issued() > warps_[most].wgmma().issued()) most = w;
      if (warps_[w].wgmma().issued() < warps_[least].wgmma().issued()) least = w;
    }
    Op op;
    op.instruction = lonely;
    const Site site{&warps_[most], &op, 0};
    site.notice(
        "warpgroup-divergence",
        fmt::format("Warp {} issues {} wgmma, and warp {} of its warpgroup ended after {}", most,
                    warps_[most].wgmma().issued(), least, warps_[least].wgmma().issued()),
        "Let all four warps of the warpgroup come to every wgmma: no branch around it may "
        "part them");
    return;
  }
}

}  // namespace tessera::vgpu
