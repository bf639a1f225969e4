// Bulk copies: one thread issues them, and a separate engine performs them (PTX ISA: cp.async.bulk,
// st.async, red.async). A transfer reads its source, writes its destination and then signals
// mbarriers, or is waited for in a bulk group of its thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "vgpu/async/reduction.h"
#include "vgpu/async/site.h"

namespace tessera::vgpu {

// Neighbouring bytes; a null source means fill.
struct Piece {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::uint32_t bytes = 0;
};

// The tensor map that a transfer uses, as it was at the issue.
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
  // All but the newest `pending` groups of these lanes are done, or have been read.
  void wait(AsyncWarp& warp, const Op& op, std::uint32_t mask, std::uint32_t pending, bool read);
  // Called when nothing else can make progress: completes one transfer that an mbarrier waits for.
  // False if there is none.
  bool deliver_one(std::uint64_t random);
  // The threads end. Transfers that they have not waited for no longer belong to them.
  void lanes_exit(const AsyncWarp& warp, std::uint32_t mask);
  // The end of the cluster: transfers that no thread waits for are completed now.
  void deliver_all();

 private:
  void fetch(Transfer& transfer);
  void deliver(Transfer& transfer);
  void prune();

  AsyncCluster& cluster_;
  std::deque<Transfer> queue_;  // in the order of issue
};

// The number of bulk groups that each lane of a warp has committed.
struct BulkGroups {
  std::uint32_t committed[kLanes] = {};
};

}  // namespace tessera::vgpu
