// barrier.cluster: a thread arrives, may do other work, and then waits.
#include <fmt/format.h>

#include <bit>

#include "vgpu/exec/cluster.h"
#include "vgpu/exec/warp/warp.h"

namespace tessera::vgpu {

void Warp::arrive_at_cluster(std::size_t index, const Control& control) {
  Split& split = splits_[index];
  const std::uint32_t mask = split.mask;
  if (control.aligned && control.guarded && mask != live_) fault_incomplete(split, live_ & ~mask);
  if (const std::uint32_t again = mask & (cluster_arrived_ | cluster_open_)) {
    fault(FaultKind::kBarrier,
          "a thread arrives at the barrier of the cluster twice without a wait between", control.op,
          std::countr_zero(again));
  }
  if (Observer* observer = cta_.observer()) {
    observer->cluster_arrives(actor(control.op, mask), MemoryOrder(control.op.immediate));
  }
  cluster_arrived_ |= mask;
  ++split.block;
  Cluster& cluster = cta_.cluster();
  cluster.barrier().arrived += static_cast<std::uint32_t>(std::popcount(mask));
  cluster.check_barrier();
}

void Warp::wait_at_cluster(std::size_t index, const Control& control) {
  Split& split = splits_[index];
  if (control.aligned && control.guarded && split.mask != live_) {
    fault_incomplete(split, live_ & ~split.mask);
  }
  if (const std::uint32_t never = split.mask & ~(cluster_arrived_ | cluster_open_)) {
    fault(FaultKind::kBarrier,
          "a thread waits at the barrier of the cluster where it has not arrived", control.op,
          std::countr_zero(never));
  }
  split.wait = Wait::kCluster;
  pass_cluster(split);
  // The other warps run before this warp continues, even if it was the last to arrive.
  turn_over_ = true;
}

// All threads have arrived: threads that wait continue, and later waits return at once.
void Warp::release_from_cluster() {
  cluster_open_ |= cluster_arrived_;
  cluster_arrived_ = 0;
  for (Split& split : splits_) {
    if (split.wait == Wait::kCluster) pass_cluster(split);
  }
}

void Warp::pass_cluster(Split& split) {
  if ((split.mask & ~cluster_open_) != 0) return;
  const Control& control = control_of(split);
  cluster_open_ &= ~split.mask;
  split.wait = Wait::kNone;
  ++split.block;
  if (Observer* observer = cta_.observer()) {
    observer->cluster_passes(actor(control.op, split.mask), MemoryOrder(control.op.immediate));
  }
}

}  // namespace tessera::vgpu
