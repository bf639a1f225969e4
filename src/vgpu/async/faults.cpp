// Describes faults of memory accesses in words: which memory, its size, and how far outside it.
#include "vgpu/async/faults.h"

#include <fmt/format.h>

#include <bit>

#include "vgpu/async/parts.h"
#include "vgpu/memory/global.h"
#include "vgpu/program/flags.h"

namespace tessera::vgpu {
namespace {

std::string name_of(Window window) {
  switch (window) {
    case Window::kShared:
      return "shared memory";
    case Window::kLocal:
      return "local memory";
    case Window::kParam:
      return "parameter memory";
    default:
      return "global memory";
  }
}

// Returns "4 bytes past the end of its 1024 bytes".
std::string beyond(std::uint64_t address, std::uint64_t begin, std::uint64_t bytes) {
  if (address < begin) return fmt::format("{} bytes before its begin", begin - address);
  const std::uint64_t past = address - begin;
  if (past >= bytes)
    return fmt::format("{} bytes past the end of its {} bytes", past - bytes, bytes);
  return fmt::format("it crosses the end of its {} bytes", bytes);
}

std::string beyond_shared(const Lanes& lanes, std::uint64_t address) {
  const std::uint64_t rank = address >> kRankShift;
  const std::uint32_t own = lanes.shared_first >> kRankShift;
  if (rank == own) return beyond(address, lanes.shared_first, lanes.shared_bytes);
  const std::uint32_t ctas = lanes.cluster->ctas;
  if (rank >= ctas) return fmt::format("CTA {} of a cluster of {}", rank, ctas);
  return fmt::format("CTA {} of the cluster, seen from CTA {}: {}", rank, own,
                     beyond(address & kSharedOffsetMask, kSharedBase, lanes.shared_bytes));
}

std::string where(const Lanes& lanes, const BadAccess& access) {
  switch (access.window) {
    case Window::kShared:
      return beyond_shared(lanes, access.address);
    case Window::kLocal:
      return beyond(access.address, kLocalBase, lanes.local_bytes);
    case Window::kParam:
      return access.address < kCallParamBase
                 ? beyond(access.address, 0, lanes.param_bytes)
                 : beyond(access.address, kCallParamBase, lanes.call_param_bytes);
    default:
      return lanes.warp->cta().memory().describe(access.address,
                                                 static_cast<std::size_t>(access.bytes));
  }
}

void tell_of(const Lanes& lanes, WarpAccess& access) {
  access.shared = lanes.cluster->shared[access.owner];
  lanes.observer->access(access);
}

// If the access is in the shared memory of one CTA, as nearly all are, reports it and returns true.
bool tell_one_owner(const Lanes& lanes, WarpAccess access) {
  const std::uint64_t* address = access.address;
  const std::uint64_t rank = address[0] >> kRankShift;
  alignas(64) std::uint64_t offsets[kLanes];
  std::uint64_t others = 0;
  for (int l = 0; l < kLanes; ++l) {
    others |= (address[l] >> kRankShift) ^ rank;
    offsets[l] = (address[l] & kSharedOffsetMask) - kSharedBase;
  }
  if (others != 0) return false;
  access.owner = static_cast<std::uint32_t>(rank);
  access.address = offsets;
  tell_of(lanes, access);
  return true;
}

// Reports one access for each CTA whose shared memory is accessed, with offsets in that memory.
void tell_by_owner(const Lanes& lanes, WarpAccess access) {
  if (tell_one_owner(lanes, access)) return;
  const std::uint64_t* address = access.address;
  std::uint32_t left = access.by.mask;
  while (left != 0) {
    const std::uint64_t stand_in = address[std::countr_zero(left)];
    alignas(64) std::uint64_t offsets[kLanes];
    std::uint32_t here = 0;
    for (int l = 0; l < kLanes; ++l) {
      const bool same = address[l] >> kRankShift == stand_in >> kRankShift;
      here |= static_cast<std::uint32_t>(same) << l;
      offsets[l] = ((same ? address[l] : stand_in) & kSharedOffsetMask) - kSharedBase;
    }
    access.by.mask = left & here;
    access.owner = static_cast<std::uint32_t>(stand_in >> kRankShift);
    access.address = offsets;
    tell_of(lanes, access);
    left &= ~here;
  }
}

}  // namespace

const MemoryBlock* find_block(Lanes& lanes, const Op& op, std::uint64_t address, int bytes) {
  const MemoryBlock* block = lanes.warp->cta().memory().find(address);
  if (!block || block->bytes - (address - block->base) < static_cast<std::uint64_t>(bytes)) {
    return nullptr;
  }
  lanes.blocks[op.instruction] = block;
  return block;
}

std::byte* find_in_cluster(const Lanes& lanes, const Op& op, const BadAccess& access) {
  const bool generic = Window(op.flags & kWindowMask) == Window::kGeneric;
  const std::uint64_t rank = access.address >> kRankShift;
  const std::uint64_t offset = (access.address & kSharedOffsetMask) - kSharedBase;
  if ((!generic && !(op.flags & kSharedCluster)) || rank >= lanes.cluster->ctas) return nullptr;
  if (offset + static_cast<std::uint64_t>(access.bytes) > lanes.shared_bytes) return nullptr;
  if (!(lanes.cluster->live >> rank & 1)) {
    lanes.warp->fault(
        FaultKind::kOutOfBounds,
        fmt::format("CTA {} of the cluster has exited and its shared memory is gone; a barrier of "
                    "the cluster before the end keeps it alive",
                    rank),
        op, access.lane, &access.address);
  }
  return lanes.cluster->shared[rank] + offset;
}

void fault_out_of_bounds(const Lanes& lanes, const Op& op, const BadAccess& access) {
  lanes.warp->fault(FaultKind::kOutOfBounds,
                    fmt::format("out of bounds in {}: an access of {} bytes, {}",
                                name_of(access.window), access.bytes, where(lanes, access)),
                    op, access.lane, &access.address);
}

void fault_misaligned(const Lanes& lanes, const Op& op, const BadAccess& access) {
  lanes.warp->fault(
      FaultKind::kMisaligned,
      fmt::format("misaligned in {}: an access of {} bytes needs an address that is a multiple of "
                  "{}, this one is {} too far",
                  name_of(access.window), access.bytes, access.bytes,
                  access.address % static_cast<std::uint64_t>(access.bytes)),
      op, access.lane, &access.address);
}

void fault_misaligned_row(const Lanes& lanes, const Op& op, const BadAccess& access) {
  lanes.warp->fault(
      FaultKind::kMisaligned,
      fmt::format("misaligned in {}: each row or column of this matrix needs an address that is a "
                  "multiple of {}, the one of this lane is {} too far",
                  name_of(access.window), access.bytes,
                  access.address % static_cast<std::uint64_t>(access.bytes)),
      op, access.lane, &access.address);
}

void observe_access(const Lanes& lanes, const Op& op, AccessKind kind, Window window, int bytes,
                    std::uint32_t mask, const std::uint64_t* address) {
  if (window == Window::kParam) return;
  WarpAccess access;
  access.by = lanes.warp->actor(op, mask);
  access.kind = kind;
  access.order = MemoryOrder(op.flags >> kOrderShift & kOrderMask);
  access.scope = MemoryScope(op.flags >> kScopeShift & kScopeMask);
  access.window = window;
  access.bytes = static_cast<std::uint8_t>(bytes);
  access.owner = access.by.cta;
  access.address = address;
  if (kind == AccessKind::kStore) access.values = lanes.stored;
  if (window == Window::kShared) {
    tell_by_owner(lanes, access);
  } else {
    lanes.observer->access(access);
  }
}

}  // namespace tessera::vgpu
