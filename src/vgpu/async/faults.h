// Reports of an operation about its accesses: faults, which stop the kernel (none of these
// functions returns), and events for observers.
#pragma once

#include <cstdint>

#include "vgpu/program/op.h"
#include "vgpu/report/observer.h"
#include "vgpu/report/windows.h"

namespace tessera::vgpu {

// Looks up the allocation that holds all of [address, address + bytes), remembers it for the
// instruction and returns it; null if there is none.
const MemoryBlock* find_block(Lanes& lanes, const Op& op, std::uint64_t address, int bytes);

struct BadAccess {
  Window window;
  std::uint64_t address;  // in the window
  int bytes;
  int lane;
};
// The bytes of another CTA's shared memory; null if there are none, or if the instruction reaches
// its own CTA only. That CTA must not have exited.
std::byte* find_in_cluster(const Lanes& lanes, const Op& op, const BadAccess& access);
[[noreturn]] void fault_out_of_bounds(const Lanes& lanes, const Op& op, const BadAccess& access);
[[noreturn]] void fault_misaligned(const Lanes& lanes, const Op& op, const BadAccess& access);
// A row (or column) of a matrix in shared memory, whose start must be a multiple of access.bytes.
[[noreturn]] void fault_misaligned_row(const Lanes& lanes, const Op& op, const BadAccess& access);

// Reports an access of the lanes in `mask` to lanes.observer, which must not be null. The 32
// addresses are those of the window; in shared memory they name the CTA too.
void observe_access(const Lanes& lanes, const Op& op, AccessKind kind, Window window, int bytes,
                    std::uint32_t mask, const std::uint64_t* address);

}  // namespace tessera::vgpu
