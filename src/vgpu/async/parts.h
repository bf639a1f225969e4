// The warp, the CTA and the cluster as asynchronous operations see them: with their queues and
// barrier objects, their indices and their observer. The executor's classes Warp, Cta and Cluster
// are derived from these classes.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/async/copy_async.h"
#include "vgpu/async/mbarrier.h"
#include "vgpu/async/transfer.h"
#include "vgpu/async/wgmma/wgmma_queue.h"
#include "vgpu/program/launch_context.h"

namespace tessera::vgpu {

constexpr std::uint32_t kWarpsOfAGroup = 4;  // warps of a warpgroup

class AsyncCta;
class AsyncCluster;

class AsyncWarp {
 public:
  AsyncWarp(const AsyncWarp&) = delete;
  AsyncWarp& operator=(const AsyncWarp&) = delete;

  std::uint32_t index() const { return index_; }  // in its CTA
  AsyncCta& cta() const { return cta_; }
  WgmmaQueue& wgmma() { return wgmma_; }
  CopyQueue& copies() { return copies_; }
  BulkGroups& bulk_groups() { return bulk_groups_; }
  Actor actor(const Op& op, std::uint32_t mask) const;
  [[noreturn]] void fault(FaultKind kind, const std::string& message, const Op& op, int lane,
                          const std::uint64_t* address = nullptr) const;

 protected:
  AsyncWarp(AsyncCta& cta, std::uint32_t index) : index_(index), cta_(cta) {}
  ~AsyncWarp() = default;

  const std::uint32_t index_;

 private:
  AsyncCta& cta_;
  WgmmaQueue wgmma_;
  CopyQueue copies_;
  BulkGroups bulk_groups_;
};

class AsyncCta {
 public:
  AsyncCta(const AsyncCta&) = delete;
  AsyncCta& operator=(const AsyncCta&) = delete;

  const Kernel& kernel() const { return *context_.kernel; }
  const GlobalMemory& memory() const { return *context_.memory; }
  Lanes& lanes() { return lanes_; }
  Observer* observer() const { return lanes_.observer; }
  std::uint64_t index() const { return index_; }
  std::uint32_t rank() const { return rank_; }  // in its cluster
  AsyncCluster& cluster() const { return cluster_; }
  std::uint32_t warps() const { return warp_count_; }
  virtual AsyncWarp& warp(std::uint32_t index) = 0;
  // The mbarrier at this offset has completed a phase.
  virtual void mbarrier_opens(std::uint32_t offset) = 0;

 protected:
  AsyncCta(AsyncCluster& cluster, std::uint32_t rank);
  ~AsyncCta() = default;

  const std::uint32_t rank_;
  std::uint64_t index_ = 0;
  Lanes lanes_;

 private:
  AsyncCluster& cluster_;
  const LaunchContext& context_;
  const std::uint32_t warp_count_;
};

class AsyncCluster {
 public:
  AsyncCluster(const AsyncCluster&) = delete;
  AsyncCluster& operator=(const AsyncCluster&) = delete;

  const LaunchContext& context() const { return context_; }
  Observer* observer() const { return observer_; }
  std::uint32_t size() const { return memory_.ctas; }
  virtual AsyncCta& cta(std::uint32_t rank) = 0;
  const ClusterMemory& memory() const { return memory_; }
  Mbarriers& mbarriers() { return mbarriers_; }
  Transfers& transfers() { return transfers_; }
  AgentId new_agent() { return ++agents_; }
  // Whether asynchronous operations take effect as late as possible.
  bool is_lazy() const { return context_.observation.schedule == AsyncSchedule::kLazy; }

 protected:
  // The observer may be null.
  AsyncCluster(const LaunchContext& context, Observer* observer)
      : context_(context), observer_(observer), mbarriers_(*this), transfers_(*this) {}
  ~AsyncCluster() = default;

  const LaunchContext& context_;
  Observer* const observer_;
  ClusterMemory memory_;
  Mbarriers mbarriers_;
  Transfers transfers_;
  AgentId agents_ = 0;
};

}  // namespace tessera::vgpu
