// One warp: its frames, and its lanes grouped into splits. The lanes of a split are at one place.
//
// Threads progress independently. With a stack of divergent branches, spinning lanes would starve
// the lane that they wait for. Here the split runs that is at the lowest place of the deepest call.
// Splits that reach one place merge; a split that waits or spins lets others run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/async/parts.h"
#include "vgpu/exec/frame.h"
#include "vgpu/program/op.h"
#include "vgpu/report/fault.h"
#include "vgpu/report/observer.h"

namespace tessera::vgpu {

class Cta;

enum class Wait : std::uint8_t { kNone, kBarrier, kCollective, kCluster, kMbarrier, kWarpgroup };

struct Split {
  std::uint32_t mask = 0;
  std::uint32_t block = 0;
  Frame* frame = nullptr;
  Wait wait = Wait::kNone;
  bool deferred = false;      // lets the other splits run first
  bool arrived = false;       // kBarrier: its warp counts as there
  std::uint32_t barrier = 0;  // kMbarrier: offset in shared memory
  std::uint32_t turn = 0;     // backward branches left; 0: not set
};

inline const Control& control_of(const Split& split) {
  return split.frame->function->blocks[split.block].control;
}

class Warp final : public AsyncWarp {
 public:
  Warp(Cta& cta, std::uint32_t index);

  // Makes one split of all lanes, at the start of the entry function.
  void start();
  // Runs until every split waits, has exited, or has used up its turn.
  void run();
  bool can_run() const;
  bool finished() const { return splits_.empty(); }
  // A barrier of the CTA has opened: the splits that wait at it continue.
  void release(std::uint32_t barrier, std::uint32_t result);
  void release_from_cluster();
  // The mbarrier at this offset in the CTA's shared memory has completed a phase.
  void mbarrier_opens(std::uint32_t offset);
  // Whether some lanes of the warp wait at this mbarrier, or run and may test it again.
  bool may_stand_at(std::uint32_t mbarrier) const;
  // The number of wgmma that the warp has reached. The warp continues after a wgmma when the other
  // warps of its warpgroup have reached it.
  std::uint64_t products() const { return products_; }
  void release_from_warpgroup(std::uint64_t least);
  // Returns a hash of `mixed`, the positions of the lanes, and their registers.
  std::uint64_t state(std::uint64_t mixed) const;
  // Makes all waits for mbarriers return false. Returns whether there were any.
  bool wake_mbarrier_waits();

  Cta& cta() const { return cta_; }
  // The setmaxnreg instructions that the warp has run, in order.
  void note_register_move(const Op& op) { register_moves_.push_back(&op); }
  const std::vector<const Op*>& register_moves() const { return register_moves_; }
  // The instruction that the split waits at, runs, or runs next.
  const Op& place_of(const Split& split) const;
  // Returns "warp 3: lanes 0x0000ffff wait at PTX line 12: bar.sync (barrier 0)" for each split.
  std::string describe_waits() const;
  // The word that a loop reads in every iteration, if the loop reads only one word.
  struct SpinWord {
    const Op* load = nullptr;
    int lane = 0;
    std::uint64_t address = 0;
    Window window = Window::kGlobal;
  };
  // The word that the first spinning split reads in its loop; nullopt if there is no such split.
  std::optional<SpinWord> spin_word() const;
  // Throws a fault at the instruction of the warp's first split.
  [[noreturn]] void fault_at_wait(FaultKind kind, const std::string& message) const;

 private:
  Split* pick();
  void merge();
  bool wake_collectives();
  void enter(const Split& split);
  void run_split(std::size_t index);
  void leave_block(std::size_t index, const Control& control);
  void count(const Control& control, std::uint32_t mask);
  void jump(Split& split, std::uint32_t target);
  bool spins();
  void branch_by_table(std::size_t index, const Control& control);
  void call(std::size_t index, const Control& control);
  void call_one(Split& split, const CallSite& site);
  void return_from(std::size_t index);
  void system_call(Split& split, const Control& control);
  std::uint64_t call_system(const Control& control, const Frame& frame, int lane);
  std::byte* system_memory(std::uint64_t generic, std::uint64_t bytes, const Op& op, int lane);
  [[noreturn]] void fault_assert(const Control& control, const Frame& frame, std::uint32_t mask);
  void exit(std::size_t index);
  void wait_at_barrier(std::size_t index, const Control& control);
  std::uint32_t expected_at(std::uint32_t barrier) const;
  void arrive(const Control& control, std::uint32_t barrier);
  void arrive_at_cluster(std::size_t index, const Control& control);
  void wait_at_cluster(std::size_t index, const Control& control);
  void pass_cluster(Split& split);
  void meet_warpgroup(Split& split);
  std::uint32_t test_mbarrier(const Split& split, SharedPlace& place, bool& uniform);
  void wait_at_mbarrier(std::size_t index);
  void end_wait(Split& split, std::uint32_t done);
  [[noreturn]] void fault_incomplete(const Split& split, std::uint32_t missing) const;
  void arrive_without_exited();
  std::uint32_t uniform(const Split& split, const Control& control, int operand) const;
  bool try_collective(std::size_t index);
  void notice_missing_lanes(const Control& control, std::uint32_t ready, std::uint32_t members);
  void notice_barrier_bypass(const Split& leaving);
  void add_split(const Split& split) { splits_.push_back(split); }
  void reserve_local(std::uint32_t bytes);
  void poison_local(std::uint32_t mask, std::uint32_t begin, std::uint32_t bytes);

  Cta& cta_;
  std::uint32_t started_ = 0;
  std::uint64_t products_ = 0;
  std::uint32_t live_ = 0;  // lanes that have not exited
  // The lanes that have arrived at the barrier of the cluster, and those for which it has opened.
  std::uint32_t cluster_arrived_ = 0, cluster_open_ = 0;
  bool turn_over_ = false;
  std::uint32_t spin_jumps_ = 0;                // back, by branches that may spin
  std::uint64_t spin_state_ = 0;                // at the last look
  std::vector<Split> splits_;                   // masks are disjoint and not empty
  std::vector<std::unique_ptr<Frame>> frames_;  // the entry's first
  std::vector<const Op*> register_moves_;
  AlignedBytes local_;
  std::uint32_t local_stride_ = 0;
};

// The warp that runs the operation of these lanes.
inline Warp& warp_of(const Lanes& lanes) { return static_cast<Warp&>(*lanes.warp); }

}  // namespace tessera::vgpu
