#include "vgpu/async/transfer.h"

#include <algorithm>
#include <cstring>

#include "vgpu/async/parts.h"

namespace tessera::vgpu {
namespace {

// Fills `bytes` bytes with the pattern, from its start: a filled range starts at a whole element.
void fill(const Transfer& transfer, std::byte* to, std::uint32_t bytes) {
  for (std::uint32_t at = 0; at < bytes; at += 16) {
    std::memcpy(to + at, transfer.fill.data(), std::min(bytes - at, 16u));
  }
}

void write(const Transfer& transfer, std::byte* to, const std::byte* from, std::uint32_t bytes) {
  if (transfer.reduce) {
    transfer.reduce(to, from, bytes);
  } else {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace

void Transfers::clear() { queue_.clear(); }

void Transfers::issue(Transfer transfer) {
  if (transfer.in_group) {
    transfer.group = transfer.site.warp->bulk_groups().committed[transfer.site.lane];
  }
  if (!cluster_.is_lazy()) {
    deliver(transfer);
    // The transfer stays in the queue, so that the wait for it can be reported to the observer.
    if (!transfer.in_group || !cluster_.observer()) return;
    transfer.pieces = {};
  }
  queue_.push_back(std::move(transfer));
}

void Transfers::fetch(Transfer& transfer) {
  if (transfer.fetched) return;
  transfer.fetched = true;
  std::size_t bytes = 0;
  for (const Piece& piece : transfer.pieces) bytes += piece.bytes;
  transfer.staged.resize(bytes);
  std::byte* to = transfer.staged.data();
  for (const Piece& piece : transfer.pieces) {
    if (piece.from) {
      std::memcpy(to, piece.from, piece.bytes);
    } else {
      fill(transfer, to, piece.bytes);
    }
    to += piece.bytes;
  }
}

void Transfers::deliver(Transfer& transfer) {
  if (transfer.delivered) return;
  transfer.delivered = true;
  const MapInUse& map = transfer.map;
  if (map.where && std::memcmp(map.where, map.bytes.data(), map.bytes.size()) != 0) {
    transfer.site.notice("tensor-map-edited",
                         "the tensor map was changed while this copy went by it",
                         "Wait for the copies that use a map before it is edited");
  }
  const std::byte* staged = transfer.staged.data();
  for (const Piece& piece : transfer.pieces) {
    if (transfer.fetched) {
      write(transfer, piece.to, staged, piece.bytes);
      staged += piece.bytes;
    } else if (piece.from) {
      write(transfer, piece.to, piece.from, piece.bytes);
    } else {
      fill(transfer, piece.to, piece.bytes);
    }
  }
  for (const SharedPlace& signal : transfer.signals) {
    cluster_.mbarriers().complete(transfer.site, signal, transfer.signal_bytes, transfer.agent);
  }
}

void Transfers::commit(AsyncWarp& warp, std::uint32_t mask) {
  for_each_lane(mask, [&](int lane) { ++warp.bulk_groups().committed[lane]; });
}

void Transfers::wait(AsyncWarp& warp, const Op& op, std::uint32_t mask, std::uint32_t pending,
                     bool read) {
  Observer* observer = cluster_.observer();
  for (Transfer& transfer : queue_) {
    const Site& site = transfer.site;
    if (!transfer.in_group || site.warp != &warp || !(mask >> site.lane & 1)) continue;
    const std::uint32_t committed = warp.bulk_groups().committed[site.lane];
    if (transfer.group + std::uint64_t{pending} >= committed) continue;
    if (read) {
      if (!transfer.delivered) fetch(transfer);
    } else {
      deliver(transfer);
    }
    if (observer && !(read && transfer.read_awaited)) {
      observer->agent_awaited(warp.actor(op, std::uint32_t{1} << site.lane), transfer.agent, read);
    }
    transfer.read_awaited = true;
    if (!read) transfer.in_group = false;
  }
  prune();
}

bool Transfers::deliver_one(std::uint64_t random) {
  std::vector<Transfer*> awaited;
  for (Transfer& transfer : queue_) {
    if (!transfer.delivered && !transfer.signals.empty()) awaited.push_back(&transfer);
  }
  if (awaited.empty()) return false;
  deliver(*awaited[random % awaited.size()]);
  prune();
  return true;
}

void Transfers::lanes_exit(const AsyncWarp& warp, std::uint32_t mask) {
  for (Transfer& transfer : queue_) {
    const Site& site = transfer.site;
    if (!transfer.in_group || site.warp != &warp || !(mask >> site.lane & 1)) continue;
    if (!transfer.read_awaited) {
      site.notice("exit-with-copies-in-flight",
                  "the thread ends while this copy may still read its shared memory",
                  "Put cp.async.bulk.wait_group.read 0 before the end");
    }
    transfer.in_group = false;
  }
  prune();
}

void Transfers::deliver_all() {
  for (Transfer& transfer : queue_) {
    if (!transfer.delivered && !transfer.signals.empty()) {
      transfer.site.notice("exit-with-copies-in-flight",
                           "the kernel ends while this copy is on its way",
                           "Wait at its mbarrier before the end");
    }
    deliver(transfer);
  }
  queue_.clear();
}

void Transfers::prune() {
  const auto is_over = [](const Transfer& transfer) {
    return transfer.delivered && !transfer.in_group;
  };
  queue_.erase(std::remove_if(queue_.begin(), queue_.end(), is_over), queue_.end());
}

}  // namespace tessera::vgpu
