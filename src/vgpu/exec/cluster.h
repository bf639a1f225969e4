// The CTAs that run together: a cluster, or one CTA alone. A worker thread owns one Cluster and
// uses it for all the clusters that it runs.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "vgpu/async/mbarrier.h"
#include "vgpu/exec/cta.h"

namespace tessera::vgpu {

// Counts threads for barrier.cluster: opens when all that have not exited have arrived.
struct ClusterBarrier {
  std::uint32_t arrived = 0;
  std::uint32_t live = 0;
};

class Cluster {
 public:
  // The observer may be null.
  Cluster(const LaunchContext& context, Observer* observer);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Runs the cluster with this linear index to its end. Throws Fault.
  void run(std::uint64_t index);

  // ---- for its CTAs and warps -------------------------------------------------------------------
  const LaunchContext& context() const { return context_; }
  Observer* observer() const { return observer_; }
  std::uint32_t size() const { return memory_.ctas; }
  Cta& cta(std::uint32_t rank) { return ctas_[rank]; }
  const ClusterMemory& memory() const { return memory_; }
  ClusterBarrier& barrier() { return barrier_; }
  Mbarriers& mbarriers() { return mbarriers_; }
  Transfers& transfers() { return transfers_; }
  AgentId new_agent() { return ++agents_; }
  // Whether asynchronous operations happen as late as possible.
  bool is_lazy() const { return context_.observation.schedule == AsyncSchedule::kLazy; }
  // Whether a wait that comes too early shall come back false at once; by seed.
  bool is_spurious();
  // Opens the barrier of the cluster if everybody is there.
  void check_barrier();
  // So many threads exit, of which some have arrived at the barrier of the cluster.
  void threads_exit(std::uint32_t count, std::uint32_t arrived);
  void cta_finished(std::uint32_t rank);

  // Of all clusters since the last call, by instruction of the kernel.
  std::vector<InstructionCounter> take_counts();

 private:
  void place_ctas(std::uint64_t index);
  void shuffle_warps();
  bool run_warps();
  bool go_on();
  [[noreturn]] void fault_deadlock();

  const LaunchContext& context_;
  Observer* const observer_;
  ClusterMemory memory_;
  ClusterBarrier barrier_;
  Mbarriers mbarriers_;
  Transfers transfers_;
  AgentId agents_ = 0;
  std::deque<Cta> ctas_;      // by rank
  std::vector<Warp*> warps_;  // of all CTAs, in the order of their turns
  std::uint64_t last_changes_ = 0;
  int failed_waits_ = 0;
  std::uint64_t random_ = 0;  // of the order
};

}  // namespace tessera::vgpu
