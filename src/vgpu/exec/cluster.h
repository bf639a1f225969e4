// CTAs that run together: those of a cluster, or a single CTA. A worker thread uses the object for
// one cluster of the launch after the other.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "vgpu/exec/cta.h"
#include "vgpu/exec/repeat_watch.h"

namespace tessera::vgpu {

// The threads at barrier.cluster. It opens when all threads that have not exited have arrived.
struct ClusterBarrier {
  std::uint32_t arrived = 0;
  std::uint32_t live = 0;
};

class Cluster final : public AsyncCluster {
 public:
  // The observer may be null.
  Cluster(const LaunchContext& context, Observer* observer);

  enum class Progress : std::uint8_t {
    kFinished,
    kIdle  // it goes round without an effect, and may wait for what others do
  };
  // Makes this object the cluster with this linear index, at its start.
  void start(std::uint64_t index);
  // Continues the cluster until it has finished or is idle. Throws Fault.
  Progress run();
  // Whether the cluster has done anything since the last call that other clusters may see.
  bool had_effects();
  // Called if the cluster is idle and no other cluster can wake it.
  [[noreturn]] void fault_idle(const std::string& why);

  // ---- for the cluster's CTAs and warps ---------------------------------------------------------
  Cta& cta(std::uint32_t rank) override { return ctas_[rank]; }
  ClusterBarrier& barrier() { return barrier_; }
  // Grows with each call and with the executed warp instructions, so it is the same in every run.
  std::uint64_t clock();
  // Whether a wait that comes too early returns false at once. This depends on the seed.
  bool is_spurious();
  // Whether a test of an incomplete mbarrier returns false at once. It does if nothing else can
  // run: a loop around such tests may end by a counter of its own.
  bool polls_freely() const { return polls_freely_; }
  // Called when a warp has used up its turn without reaching a wait.
  void note_long_turn() { long_turn_ = true; }
  // Opens the barrier of the cluster if all threads have arrived.
  void check_barrier();
  // `count` threads exit, of which `arrived` have arrived at the barrier of the cluster.
  void threads_exit(std::uint32_t count, std::uint32_t arrived);
  void cta_finished(std::uint32_t rank);

  // Returns the counts since the last call, by index of the instruction in the kernel.
  std::vector<InstructionCounter> take_counts();

 private:
  void place_ctas(std::uint64_t index);
  void shuffle_warps();
  bool run_warps();
  bool finish_late_operation();
  bool wake_waits();
  RepeatWatch::Verdict look();
  void poll_freely();
  Progress finish();
  void check_limits();
  bool all_wait_at_objects();
  [[noreturn]] void fault(FaultKind kind, std::string text, bool all_run = true);

  ClusterBarrier barrier_;
  std::deque<Cta> ctas_;         // by rank
  std::vector<Warp*> warps_;     // warps of all CTAs, in the order in which they run
  std::vector<Warp*> in_order_;  // the same by rank and index
  RepeatWatch watch_;
  bool polls_freely_ = false;
  std::uint64_t freely_since_ = 0;  // instructions
  bool long_turn_ = false;
  bool takes_long_ = false;  // the last check: instructions ran, but had no effect
  std::uint32_t rounds_ = 0;
  Cta::Executed executed_;               // when last looked at
  std::uint64_t clock_ = 0, taken_ = 0;  // instructions of which the counts were taken
  std::uint64_t loads_at_wake_ = 0, spent_ = 0, effects_ = 0;
  std::uint64_t random_ = 0;  // state of the random order
};

}  // namespace tessera::vgpu
