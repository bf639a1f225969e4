// Faults of memory accesses, in words: which memory, how large it is, how far off.
#include "vgpu/exec/faults.h"

#include <fmt/format.h>

#include "vgpu/exec/cta.h"
#include "vgpu/exec/ops/flags.h"
#include "vgpu/exec/warp.h"

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

// "4 bytes past the end of the CTA's 1024 bytes"
std::string beyond(std::uint64_t address, std::uint64_t begin, std::uint64_t bytes) {
  if (address < begin) return fmt::format("{} bytes before its begin", begin - address);
  const std::uint64_t past = address - begin;
  if (past >= bytes)
    return fmt::format("{} bytes past the end of its {} bytes", past - bytes, bytes);
  return fmt::format("it crosses the end of its {} bytes", bytes);
}

std::string where(const Lanes& lanes, const BadAccess& access) {
  switch (access.window) {
    case Window::kShared:
      return beyond(access.address, kSharedBase, lanes.shared_bytes);
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

}  // namespace

const MemoryBlock* find_block(Lanes& lanes, const Op& op, std::uint64_t address, int bytes) {
  const MemoryBlock* block = lanes.warp->cta().memory().find(address);
  if (!block || block->bytes - (address - block->base) < static_cast<std::uint64_t>(bytes)) {
    return nullptr;
  }
  lanes.blocks[op.instruction] = block;
  return block;
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

void observe_access(const Lanes& lanes, const Op& op, AccessKind kind, Window window, int bytes,
                    std::uint32_t mask, const std::uint64_t* address) {
  if (window == Window::kParam) return;
  alignas(64) std::uint64_t offsets[kLanes];
  if (window == Window::kShared) {
    for (int l = 0; l < kLanes; ++l) offsets[l] = address[l] - kSharedBase;
    address = offsets;
  }
  WarpAccess access;
  access.by = lanes.warp->actor(op, mask);
  access.kind = kind;
  access.order = MemoryOrder(op.flags >> kOrderShift & kOrderMask);
  access.scope = MemoryScope(op.flags >> kScopeShift & kScopeMask);
  access.window = window;
  access.bytes = static_cast<std::uint8_t>(bytes);
  access.owner = access.by.cta;
  access.address = address;
  lanes.observer->access(access);
}

}  // namespace tessera::vgpu
