// The vector clock of a thread: for each entity, the time up to which all of its actions are
// ordered before this point. Two accesses race if neither is ordered before the other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "vgpu/report/windows.h"

namespace tessera::vgpu::check {

// Time in the run of a cluster, incremented at each event that orders threads. There is one count
// for all warps of the cluster, so their times can be compared.
using Time = std::uint32_t;

// The number of a warp of the cluster, or of the reads or the writes of an asynchronous agent.
using Entity = std::uint32_t;

// Knowledge about several clusters, which run at the same time: for each cluster, by entity, the
// time since its start. Only atomics and fences transfer it between clusters.
using Horizon = std::map<std::uint64_t, std::vector<Time>>;
using SharedHorizon = std::shared_ptr<const Horizon>;  // null: nothing

void join(std::vector<Time>& to, const std::vector<Time>& more);
void join(SharedHorizon& to, const SharedHorizon& more);
bool knows(const SharedHorizon& horizon, std::uint64_t cluster, Entity entity, Time time);

struct Clock {
  std::vector<Time> seen;  // by entity; what is missing is 0
  // Like `seen`, for accesses of threads that a fence.proxy.async has ordered before asynchronous
  // operations: in shared and in global memory.
  std::vector<Time> seen_by_async, seen_by_async_in_global;
  std::vector<Time>
      seen_by_maps;  // knowledge that fence.proxy.tensormap has put before uses of tensor maps
  // Reads of wgmma that are known to have ended only through another warp of the warpgroup.
  std::vector<Time> covered;
  // If some lanes of a warp have exited and no other thread has synchronised with their last
  // actions, `seen` ends before these actions. `stayed` is the time up to which the actions of the
  // warp's other lanes are known.
  std::vector<Time> stayed;
  std::vector<Time> inits;    // initialisations of barrier objects, which have a fence of their own
  std::uint32_t started = 0;  // ranks of the cluster whose threads are known to run
  bool earlier_have_ended = false;  // the launches that this one may have overtaken
  SharedHorizon others;             // knowledge of other clusters
  SharedHorizon fenced;          // knowledge that an atomic after a fence hands on to all threads
  SharedHorizon fenced_for_cta;  // to the CTA alone

  void join(const Clock& more);
  bool has_seen(Entity entity, Time time) const {
    return (entity < seen.size() && time <= seen[entity]) ||
           (entity < stayed.size() && time <= stayed[entity]);
  }
  bool has_covered(Entity entity, Time time) const {
    return entity < covered.size() && time <= covered[entity];
  }
  bool maps_have_seen(Entity entity, Time time) const {
    return entity < seen_by_maps.size() && time <= seen_by_maps[entity];
  }
  bool async_has_seen(Window window, Entity entity, Time time) const {
    const auto& times = window == Window::kShared ? seen_by_async : seen_by_async_in_global;
    return entity < times.size() && time <= times[entity];
  }
};

// Returns the entry, and adds it if it is missing.
inline Time& at(std::vector<Time>& times, Entity entity) {
  if (entity >= times.size()) times.resize(entity + 1);
  return times[entity];
}

}  // namespace tessera::vgpu::check
