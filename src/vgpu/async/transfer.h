// Bulk copies: one thread issues a copy, and a separate engine performs it (PTX ISA, cp.async.bulk,
// st.async, red.async). A transfer reads its source and writes its destination. Then it signals
// mbarriers, or the thread waits for its bulk group.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "vgpu/async/reduction.h"
#include "vgpu/async/site.h"

namespace tessera::vgpu {

// Contiguous bytes to copy. If `from` is null, the fill pattern is written.
struct Piece {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::uint32_t bytes = 0;
};

// The tensor map of a transfer, as it was when the copy was issued.
struct MapInUse {
  const std::byte* where = nullptr;
  std::array<std::byte, 128> bytes;
};

struct Transfer {
  Site site;
  AgentId agent = 0;
  std::vector<Piece> pieces;
  std::vector<std::byte> staged;  // the bytes that were read, piece after piece
  std::array<std::byte, 16> fill = {};
  Reduce reduce = nullptr;
  std::vector<SharedPlace> signals;  // mbarriers
  std::uint32_t signal_bytes = 0;    // each
  bool in_group = false;             // in a group of bulk copies of its thread
  std::uint32_t group = 0;
  MapInUse map;
  bool fetched = false, delivered = false;
  bool read_awaited = false;
};

class Transfers {
 public:
  explicit Transfers(AsyncCluster& cluster) : cluster_(cluster) {}

  void clear();
  void issue(Transfer transfer);
  void commit(AsyncWarp& warp, std::uint32_t mask);
  // Completes all groups of these lanes but the newest `pending`. If `read`, only their reads.
  void wait(AsyncWarp& warp, const Op& op, std::uint32_t mask, std::uint32_t pending, bool read);
  // Called if nothing else can make progress: completes one transfer that signals mbarriers.
  // Returns false if there is none.
  bool deliver_one(std::uint64_t random);
  // Called when these threads exit. They no longer own the transfers that they have not waited for.
  void lanes_exit(const AsyncWarp& warp, std::uint32_t mask);
  // Called at the end of the cluster: completes the transfers that no thread has waited for.
  void deliver_all();

 private:
  void fetch(Transfer& transfer);
  void deliver(Transfer& transfer);
  void prune();

  AsyncCluster& cluster_;
  std::deque<Transfer> queue_;  // in the order of issue
};

// For each lane of a warp, the number of bulk groups that it has committed.
struct BulkGroups {
  std::uint32_t committed[kLanes] = {};
};

}  // namespace tessera::vgpu
