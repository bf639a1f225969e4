// cp.async.bulk and related instructions. For each lane, the operation is checked, reported to
// observers, and passed to the transfers of the cluster.
#include <fmt/format.h>

#include <cstring>

#include "vgpu/async/operations.h"
#include "vgpu/async/parts.h"
#include "vgpu/async/tensor_box.h"

namespace tessera::vgpu {
namespace {

constexpr std::uint64_t kObjectBytes = 8;
constexpr std::uint64_t kBulkAlignment = 16;
constexpr std::uint64_t kBoxAlignment = 128;  // alignment of a box in shared memory, bytes

std::uint64_t wide(const Lanes& lanes, const Op& op, int operand, int lane) {
  return register_of<std::uint64_t>(lanes, op, operand, lane);
}

Reduce reduce_of(const Op& op) {
  return find_reduce(Reduction(op.immediate >> 8 & 0xff), CopyElement(op.immediate & 0xff));
}

// Reports a new agent, and the bytes that the agent accesses, to observers.
class Teller {
 public:
  Teller(const Site& site, Transfer& transfer) : observer_(site.warp->cta().observer()) {
    if (!observer_) return;
    const Actor actor = site.actor();
    transfer.agent = access_.agent = site.cluster().new_agent();
    access_.instruction = actor.instruction;
    observer_->agent_starts(actor, transfer.agent, AgentKind::kBulkCopy);
  }
  void shared(AccessKind kind, const SharedPlace& place, std::uint64_t bytes) {
    tell(kind, Window::kShared, place.owner, place.offset, bytes);
  }
  void global(AccessKind kind, std::uint64_t address, std::uint64_t bytes) {
    tell(kind, Window::kGlobal, 0, address, bytes);
  }
  void map(std::uint64_t address) {
    access_.is_map = true;
    tell(AccessKind::kLoad, Window::kGlobal, 0, address, kMapBytes);
    access_.is_map = false;
  }

 private:
  void tell(AccessKind kind, Window window, std::uint32_t owner, std::uint64_t address,
            std::uint64_t bytes) {
    if (!observer_ || bytes == 0) return;
    access_.kind = kind;
    access_.window = window;
    access_.owner = owner;
    access_.address = address;
    access_.bytes = bytes;
    observer_->agent_access(access_);
  }

  Observer* observer_;
  AgentAccess access_;
};

// Returns the place at the offset of `place` in the shared memory of each CTA of the mask.
std::vector<SharedPlace> spread(const Site& site, const SharedPlace& place, std::uint32_t ctas) {
  const ClusterMemory& memory = site.cluster().memory();
  if (ctas == 0 || ctas >> memory.ctas != 0) {
    site.fault(
        FaultKind::kOutOfBounds,
        fmt::format("the mask {:#06x} of a multicast names CTAs beyond the {} of the cluster", ctas,
                    memory.ctas));
  }
  std::vector<SharedPlace> places;
  for_each_lane(ctas, [&](int rank) {
    if (!(memory.live >> rank & 1)) {
      site.fault(
          FaultKind::kOutOfBounds,
          fmt::format("CTA {} of the cluster has exited and its shared memory is gone", rank));
    }
    const auto owner = static_cast<std::uint32_t>(rank);
    places.push_back({owner, place.offset, memory.shared[rank] + place.offset});
  });
  return places;
}

SharedPlace object_at(const Site& site, std::uint64_t address, const SharedPlace& beside) {
  const SharedPlace object = shared_place(site, address, kObjectBytes, kObjectBytes, true);
  if (object.owner != beside.owner) {
    site.fault(FaultKind::kBarrier,
               fmt::format("the copy goes to CTA {} of the cluster, its mbarrier is in CTA {}",
                           beside.owner, object.owner));
  }
  return object;
}

void check_bulk_bytes(const Site& site, std::uint32_t bytes) {
  if (bytes % kBulkAlignment == 0) return;
  site.fault(FaultKind::kMisaligned,
             fmt::format("a bulk copy of {} bytes: the size must be a multiple of 16", bytes));
}

// ---- contiguous bytes ---------------------------------------------------------------------------

// Operands: address in shared memory to write, address in global or shared memory to read, bytes,
// mbarrier{, mask of CTAs}.
void load_run(const Lanes& lanes, const Op& op, int lane) {
  const Site site = site_of(lanes, op, lane);
  const std::uint32_t bytes = word(lanes, op, 2, lane);
  check_bulk_bytes(site, bytes);
  const SharedPlace to = shared_place(site, wide(lanes, op, 0, lane), bytes, kBulkAlignment, true);
  const SharedPlace object = object_at(site, wide(lanes, op, 3, lane), to);
  std::vector<SharedPlace> places = {to}, objects = {object};
  if (op.flags & kMulticast) {
    places = spread(site, to, word(lanes, op, 4, lane) & 0xffff);
    objects = spread(site, object, word(lanes, op, 4, lane) & 0xffff);
  }
  Transfer transfer;
  transfer.site = site;
  Teller teller(site, transfer);
  const std::uint64_t address = wide(lanes, op, 1, lane);
  const std::byte* from;
  if (op.flags & kFromShared) {
    const SharedPlace source = shared_place(site, address, bytes, kBulkAlignment, false);
    from = source.host;
    teller.shared(AccessKind::kLoad, source, bytes);
  } else {
    from = global_place(site, address, bytes, kBulkAlignment);
    teller.global(AccessKind::kLoad, address, bytes);
  }
  transfer.reduce = reduce_of(op);
  for (const SharedPlace& place : places) {
    transfer.pieces.push_back({from, place.host, bytes});
    teller.shared(transfer.reduce ? AccessKind::kAtomic : AccessKind::kStore, place, bytes);
  }
  transfer.signals = objects;
  transfer.signal_bytes = bytes;
  site.cluster().transfers().issue(std::move(transfer));
}

// Operands: address in global memory, address in shared memory, bytes{, mask of the bytes that are
// written in each 16 bytes}.
void store_run(const Lanes& lanes, const Op& op, int lane) {
  const Site site = site_of(lanes, op, lane);
  const std::uint32_t bytes = word(lanes, op, 2, lane);
  check_bulk_bytes(site, bytes);
  const std::uint64_t address = wide(lanes, op, 0, lane);
  const SharedPlace from =
      shared_place(site, wide(lanes, op, 1, lane), bytes, kBulkAlignment, false);
  std::byte* to = global_place(site, address, bytes, kBulkAlignment);
  Transfer transfer;
  transfer.site = site;
  transfer.in_group = true;
  transfer.reduce = reduce_of(op);
  Teller teller(site, transfer);
  const AccessKind kind = transfer.reduce ? AccessKind::kAtomic : AccessKind::kStore;
  teller.shared(AccessKind::kLoad, from, bytes);
  if (op.flags & kByteMask) {
    const std::uint32_t mask = word(lanes, op, 3, lane);
    for (std::uint32_t at = 0; at < bytes; ++at) {
      if (!(mask >> at % 16 & 1)) continue;
      transfer.pieces.push_back({from.host + at, to + at, 1});
      teller.global(kind, address + at, 1);
    }
  } else {
    transfer.pieces.push_back({from.host, to, bytes});
    teller.global(kind, address, bytes);
  }
  site.cluster().transfers().issue(std::move(transfer));
}

// ---- boxes of tensors ---------------------------------------------------------------------------

struct MapAtIssue {
  TensorMap map;
  MapInUse in_use;
  std::uint64_t global_address = 0;  // 0: in the parameters
};

// Faults if the kernel has copied the map to local or shared memory, where no tensor copy can read
// it.
void check_map_memory(const Site& site, std::uint64_t address) {
  if (address - kLocalWindow < kWindowBytes) {
    site.fault_with(FaultKind::kOutOfBounds,
                    "the tensor map lies in local memory: this thread has its own copy of it",
                    "Make the parameter const __grid_constant__, and pass on its address alone: "
                    "any other parameter is copied where its address is taken.",
                    &address);
  }
  if (address - kSharedWindow < kWindowBytes) {
    site.fault_with(FaultKind::kOutOfBounds, "the tensor map lies in shared memory",
                    "Let the copy read it from a parameter, constant or global memory.", &address);
  }
}

MapAtIssue read_map(const Site& site, std::uint64_t address) {
  MapAtIssue result;
  check_map_memory(site, address);
  const std::byte* bytes = nullptr;
  if (address - kParamWindow < kWindowBytes) {
    const Lanes& lanes = site.warp->cta().lanes();
    const std::uint64_t offset = address - kParamWindow;
    if (offset % 64 != 0 || offset + kMapBytes > lanes.param_bytes) {
      site.fault_with(
          FaultKind::kOutOfBounds,
          "no tensor map fits here in the kernel's parameters: 128 bytes, aligned to 64",
          kNoMapHint, &address);
    }
    bytes = lanes.params + offset;
  } else {
    bytes = global_place(site, address, kMapBytes, 64);
    result.global_address = address;
    result.in_use.where = bytes;
  }
  std::memcpy(&result.map, bytes, kMapBytes);
  std::memcpy(result.in_use.bytes.data(), bytes, kMapBytes);
  if (result.map.magic != kMapMagic) {
    site.fault_with(FaultKind::kOutOfBounds, kNoMap, kNoMapHint, &address);
  }
  return result;
}

// HW: it is an illegal instruction if a box starts inside a 16-byte unit of the innermost
// dimension, in every rank and swizzle mode, or if a store starts before the tensor (measured on an
// H200).
void check_start(const Site& site, const TensorBox& box, bool stores) {
  const std::int64_t start = std::int64_t{box.at[0]} * bytes_of(box.map.type);
  if (start % 16 != 0) {
    site.fault_with(
        FaultKind::kMisaligned,
        fmt::format("a box starts at element {} of the innermost dimension, byte {}: the "
                    "bytes must be a multiple of 16",
                    box.at[0], start),
        "Let the box start at such an element: an earlier one, of which the first are not used.");
  }
  if (stores && start < 0) {
    site.fault_with(
        FaultKind::kOutOfBounds,
        fmt::format("a store of a box starts at element {} of the innermost dimension: it "
                    "may end outside of the tensor, but not begin there",
                    box.at[0]),
        "Begin the store at element 0 or later, or let the tensor of the map begin earlier.");
  }
}

TensorBox box_of(const Lanes& lanes, const Op& op, int lane, const Site& site, const TensorMap& map,
                 bool stores) {
  TensorBox box{map};
  const auto rank = static_cast<int>(op.flags >> kRankShiftOfFlags & 7);
  if (rank != map.rank) {
    site.fault_with(FaultKind::kOutOfBounds,
                    fmt::format("a copy of {} dimensions by a tensor map of {}", rank, map.rank),
                    "Use the instruction for as many dimensions as the tensor of the map has.");
  }
  for (int d = 0; d < rank; ++d) {
    const std::uint32_t offset = lanes.operand_lists[op.list + static_cast<std::uint32_t>(d)];
    box.at[d] = reinterpret_cast<const std::int32_t*>(lanes.registers + offset)[lane];
  }
  check_start(site, box, stores);
  return box;
}

void load_box(const Lanes& lanes, const Op& op, int lane) {
  const Site site = site_of(lanes, op, lane);
  const MapAtIssue map = read_map(site, wide(lanes, op, 0, lane));
  const TensorBox box = box_of(lanes, op, lane, site, map.map, false);
  const SharedPlace to =
      shared_place(site, wide(lanes, op, 1, lane), box.bytes(), kBoxAlignment, true);
  const SharedPlace object = object_at(site, wide(lanes, op, 2, lane), to);
  std::vector<SharedPlace> places = {to}, objects = {object};
  if (op.flags & kMulticast) {
    places = spread(site, to, word(lanes, op, 3, lane) & 0xffff);
    objects = spread(site, object, word(lanes, op, 3, lane) & 0xffff);
  }
  Transfer transfer;
  transfer.site = site;
  transfer.map = map.in_use;
  Teller teller(site, transfer);
  if (map.global_address != 0) teller.map(map.global_address);
  for (const GlobalRange& range : add_load(site, box, places, transfer)) {
    teller.global(AccessKind::kLoad, range.address, range.bytes);
  }
  for (const SharedPlace& place : places) teller.shared(AccessKind::kStore, place, box.bytes());
  transfer.signals = objects;
  transfer.signal_bytes = box.bytes();
  site.cluster().transfers().issue(std::move(transfer));
}

void store_box(const Lanes& lanes, const Op& op, int lane) {
  const Site site = site_of(lanes, op, lane);
  const MapAtIssue map = read_map(site, wide(lanes, op, 0, lane));
  const TensorBox box = box_of(lanes, op, lane, site, map.map, true);
  const SharedPlace from =
      shared_place(site, wide(lanes, op, 1, lane), box.bytes(), kBoxAlignment, false);
  Transfer transfer;
  transfer.site = site;
  transfer.map = map.in_use;
  transfer.in_group = true;
  const auto reduction = Reduction(op.immediate >> 8 & 0xff);
  if (reduction != Reduction::kNone) {
    transfer.reduce = find_reduce(reduction, element_of(map.map.type));
    if (!transfer.reduce) {
      site.fault(FaultKind::kUnsupported, "elements of this type have no such reduction");
    }
  }
  Teller teller(site, transfer);
  if (map.global_address != 0) teller.map(map.global_address);
  teller.shared(AccessKind::kLoad, from, box.bytes());
  const AccessKind kind = transfer.reduce ? AccessKind::kAtomic : AccessKind::kStore;
  for (const GlobalRange& range : add_store(site, box, from, transfer)) {
    teller.global(kind, range.address, range.bytes);
  }
  site.cluster().transfers().issue(std::move(transfer));
}

// ---- values of registers ------------------------------------------------------------------------

// st.async and red.async. Operands: address to write, mbarrier, values.
void send(const Lanes& lanes, const Op& op, int lane) {
  const Site site = site_of(lanes, op, lane);
  const std::uint32_t each = bytes_of(CopyElement(op.immediate & 0xff));
  const std::uint32_t count = op.flags >> kCountShift & 7, bytes = each * count;
  const SharedPlace to = shared_place(site, wide(lanes, op, 0, lane), bytes, bytes, true);
  Transfer transfer;
  transfer.site = site;
  transfer.signals = {object_at(site, wide(lanes, op, 1, lane), to)};
  transfer.signal_bytes = bytes;
  transfer.reduce = reduce_of(op);
  transfer.pieces.push_back({nullptr, to.host, bytes});
  transfer.staged.resize(bytes);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::byte* from =
        lanes.registers + op.operand[2 + i] + static_cast<std::size_t>(lane) * each;
    std::memcpy(transfer.staged.data() + i * each, from, each);
  }
  transfer.fetched = true;
  Teller teller(site, transfer);
  teller.shared(transfer.reduce ? AccessKind::kAtomic : AccessKind::kStore, to, bytes);
  site.cluster().transfers().issue(std::move(transfer));
}

template <class F>
void each_lane(const Op* first, const Op* last, Lanes& lanes, F f) {
  for (; first != last; ++first) {
    for_each_lane(lanes.mask, [&](int lane) { f(lanes, *first, lane); });
  }
}

}  // namespace

void bulk_load(const Op* first, const Op* last, Lanes& lanes) {
  each_lane(first, last, lanes, load_run);
}
void bulk_store(const Op* first, const Op* last, Lanes& lanes) {
  each_lane(first, last, lanes, store_run);
}
void tensor_load(const Op* first, const Op* last, Lanes& lanes) {
  each_lane(first, last, lanes, load_box);
}
void tensor_store(const Op* first, const Op* last, Lanes& lanes) {
  each_lane(first, last, lanes, store_box);
}
void send_async(const Op* first, const Op* last, Lanes& lanes) {
  each_lane(first, last, lanes, send);
}

void bulk_commit(const Op* first, const Op* last, Lanes& lanes) {
  for (; first != last; ++first) {
    lanes.warp->cta().cluster().transfers().commit(*lanes.warp, lanes.mask);
  }
}

void bulk_wait(const Op* first, const Op* last, Lanes& lanes) {
  for (; first != last; ++first) {
    lanes.warp->cta().cluster().transfers().wait(*lanes.warp, *first, lanes.mask,
                                                 static_cast<std::uint32_t>(first->immediate),
                                                 (first->flags & kReadOnly) != 0);
  }
}

}  // namespace tessera::vgpu
