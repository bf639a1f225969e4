// cp.async of one warp: asynchronous copies in groups. Each thread counts its own groups (PTX ISA,
// cp.async).
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "vgpu/async/site.h"

namespace tessera::vgpu {

// One execution of cp.async, or of cp.async.mbarrier.arrive, by some lanes.
struct CopyBatch {
  const Op* op = nullptr;
  AgentId agent = 0;
  std::uint32_t mask = 0;     // lanes whose copy has not happened
  std::uint32_t awaited = 0;  // lanes that have waited for it or signalled it: for observers
  std::uint32_t all = 0;
  bool arrives = false;  // at the mbarriers of `to`, when the copies before it have happened
  std::uint32_t bytes = 0;
  std::uint32_t group[kLanes] = {};  // number, counted by each lane
  SharedPlace to[kLanes];
  const std::byte* from[kLanes] = {};
  std::uint32_t from_bytes[kLanes] = {};  // the rest of `bytes` is filled with zeros
};

class CopyQueue {
 public:
  void clear();
  void add(AsyncWarp& warp, const CopyBatch& batch);
  void commit(std::uint32_t mask);
  // Completes all groups of these lanes but the newest `pending`. wait_all() completes all copies.
  void wait(AsyncWarp& warp, const Op& op, std::uint32_t mask, std::uint32_t pending);
  void wait_all(AsyncWarp& warp, const Op& op, std::uint32_t mask);
  // Called if nothing else can make progress: completes the oldest arrival at an mbarrier. Returns
  // false if there is none.
  bool arrive_late(AsyncWarp& warp);

 private:
  // Completes the copies or arrivals of these lanes in the batch at this position of the queue.
  void finish(AsyncWarp& warp, std::size_t position, std::uint32_t mask);
  void arrive(AsyncWarp& warp, std::size_t position, int lane);
  void await(AsyncWarp& warp, const Op& op, CopyBatch& batch, std::uint32_t mask);
  void prune(bool watched);

  std::deque<CopyBatch> batches_;
  std::uint32_t committed_[kLanes] = {};
};

}  // namespace tessera::vgpu
