// cp.async: checks the copies of all lanes, reports them to observers, and adds them to the queue
// of the warp.
#include <fmt/format.h>

#include "vgpu/async/operations.h"
#include "vgpu/async/parts.h"
#include "vgpu/program/flags.h"

namespace tessera::vgpu {
namespace {

// Returns the number of bytes that a lane reads. The other bytes of its copy become zeros.
std::uint32_t source_bytes(const Lanes& lanes, const Op& op, int lane) {
  const auto bytes = static_cast<std::uint32_t>(op.immediate);
  if (op.flags & kIgnoresSource) return predicate_of_lane(lanes, op, 2, lane) ? 0 : bytes;
  if (!(op.flags & kHasSourceBytes)) return bytes;
  const std::uint32_t given = register_of<std::uint32_t>(lanes, op, 2, lane);
  if (given > bytes) {
    site_of(lanes, op, lane)
        .fault(FaultKind::kOutOfBounds,
               fmt::format("cp.async is to read {} bytes of a copy of {}", given, bytes));
  }
  return given;
}

struct Addresses {
  std::uint64_t from[kLanes] = {}, to[kLanes] = {};
};

CopyBatch batch_of(Lanes& lanes, const Op& op, Addresses& addresses) {
  CopyBatch batch;
  batch.op = &op;
  batch.mask = lanes.mask;
  batch.bytes = static_cast<std::uint32_t>(op.immediate);
  for_each_lane(lanes.mask, [&](int lane) {
    const Site site = site_of(lanes, op, lane);
    batch.to[lane] = shared_place(site, register_of<std::uint64_t>(lanes, op, 0, lane), batch.bytes,
                                  batch.bytes, false);
    const std::uint64_t from = register_of<std::uint64_t>(lanes, op, 1, lane);
    batch.from_bytes[lane] = source_bytes(lanes, op, lane);
    if (batch.from_bytes[lane] != 0) {
      batch.from[lane] = global_place(site, from, batch.from_bytes[lane], batch.bytes);
    }
    addresses.from[lane] = from;
    addresses.to[lane] = batch.to[lane].offset;
  });
  return batch;
}

// Sets the addresses of lanes outside the mask to the address of a lane inside it.
void fill_up(std::uint64_t (&address)[kLanes], std::uint32_t mask) {
  const std::uint64_t stand_in = mask == 0 ? 0 : address[__builtin_ctz(mask)];
  for (int l = 0; l < kLanes; ++l) {
    if (!(mask >> l & 1)) address[l] = stand_in;
  }
}

void tell_issue(Observer& observer, const Actor& actor, const CopyBatch& batch,
                Addresses& addresses) {
  WarpAccess from, to;
  from.by = to.by = actor;
  for_each_lane(actor.mask, [&](int lane) {
    if (batch.from_bytes[lane] == 0) from.by.mask &= ~(std::uint32_t{1} << lane);
  });
  fill_up(addresses.from, from.by.mask);
  fill_up(addresses.to, to.by.mask);
  from.bytes = to.bytes = static_cast<std::uint8_t>(batch.bytes);
  from.address = addresses.from;
  to.kind = AccessKind::kStore;
  to.window = Window::kShared;
  to.owner = actor.cta;
  to.address = addresses.to;
  observer.copy_issued(from, to);
}

// Reports the reads and writes of the agent. Adjacent bytes of neighbouring lanes are one access.
void tell_accesses(Observer& observer, const CopyBatch& batch, const Actor& actor,
                   const Addresses& addresses) {
  AgentAccess access;
  access.agent = batch.agent;
  access.instruction = actor.instruction;
  access.owner = actor.cta;
  const auto tell = [&](AccessKind kind, Window window, const std::uint64_t* address, auto bytes) {
    access.kind = kind;
    access.window = window;
    access.bytes = 0;
    int last = -1;
    for_each_lane(actor.mask, [&](int lane) {
      const bool follows = access.bytes != 0 && address[lane] == access.address + access.bytes;
      if (!follows || lane != last + 1) {
        if (access.bytes != 0) observer.agent_access(access);
        access.address = address[lane];
        access.bytes = 0;
        access.lane = lane;
      }
      access.bytes += bytes(lane);
      last = lane;
    });
    if (access.bytes != 0) observer.agent_access(access);
  };
  tell(AccessKind::kLoad, Window::kGlobal, addresses.from,
       [&](int lane) { return batch.from_bytes[lane]; });
  access.lane_bytes = batch.bytes;
  tell(AccessKind::kStore, Window::kShared, addresses.to, [&](int) { return batch.bytes; });
}

}  // namespace

void copy_async(const Op* first, const Op* last, Lanes& lanes) {
  AsyncWarp& warp = *lanes.warp;
  for (; first != last; ++first) {
    Addresses addresses;
    CopyBatch batch = batch_of(lanes, *first, addresses);
    if (Observer* observer = lanes.observer) {
      const Actor actor = warp.actor(*first, lanes.mask);
      batch.agent = warp.cta().cluster().new_agent();
      observer->agent_starts(actor, batch.agent, AgentKind::kCopyAsync);
      tell_accesses(*observer, batch, actor, addresses);
      tell_issue(*observer, actor, batch, addresses);
    }
    warp.copies().add(warp, batch);
  }
}

void copy_async_commit(const Op* first, const Op* last, Lanes& lanes) {
  for (; first != last; ++first) lanes.warp->copies().commit(lanes.mask);
}

void copy_async_wait(const Op* first, const Op* last, Lanes& lanes) {
  for (; first != last; ++first) {
    lanes.warp->copies().wait(*lanes.warp, *first, lanes.mask,
                              static_cast<std::uint32_t>(first->immediate));
  }
}

void copy_async_wait_all(const Op* first, const Op* last, Lanes& lanes) {
  for (; first != last; ++first) {
    lanes.warp->copies().wait_all(*lanes.warp, *first, lanes.mask);
  }
}

void copy_async_arrive(const Op* first, const Op* last, Lanes& lanes) {
  AsyncWarp& warp = *lanes.warp;
  for (; first != last; ++first) {
    CopyBatch batch;
    batch.op = first;
    batch.mask = lanes.mask;
    batch.arrives = true;
    for_each_lane(lanes.mask, [&](int lane) {
      const Site site = site_of(lanes, *first, lane);
      batch.to[lane] =
          shared_place(site, register_of<std::uint64_t>(lanes, *first, 0, lane), 8, 8, false);
      if (!(first->flags & kNoIncrement)) {
        warp.cta().cluster().mbarriers().add_pending(site, batch.to[lane]);
      }
    });
    warp.copies().add(warp, batch);
  }
}

}  // namespace tessera::vgpu
