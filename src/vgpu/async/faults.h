// Reports on the accesses of operations: faults, which stop the kernel (these functions do not
// return), and events for observers.
#pragma once

#include <cstdint>

#include "vgpu/program/op.h"
#include "vgpu/report/observer.h"
#include "vgpu/report/windows.h"

namespace tessera::vgpu {

// Returns the allocation that holds all of [address, address + bytes), and remembers it for the
// instruction; null if there is none.
const MemoryBlock* find_block(Lanes& lanes, const Op& op, std::uint64_t address, int bytes);

struct BadAccess {
  Window window;
  std::uint64_t address;  // in the window
  int bytes;
  int lane;
};
// Returns the host memory of an access to another CTA's shared memory; null if no CTA has these
// bytes, or if the instruction can access only its own CTA. Faults if the other CTA has exited.
std::byte* find_in_cluster(const Lanes& lanes, const Op& op, const BadAccess& access);
[[noreturn]] void fault_out_of_bounds(const Lanes& lanes, const Op& op, const BadAccess& access);
[[noreturn]] void fault_misaligned(const Lanes& lanes, const Op& op, const BadAccess& access);
// Faults because this row or column of a matrix does not start at a multiple of access.bytes.
[[noreturn]] void fault_misaligned_row(const Lanes& lanes, const Op& op, const BadAccess& access);

// Tells lanes.observer, which must not be null, that the lanes in `mask` access memory. `address`
// has one address in `window` per lane; addresses of shared memory also contain the CTA's rank.
void observe_access(const Lanes& lanes, const Op& op, AccessKind kind, Window window, int bytes,
                    std::uint32_t mask, const std::uint64_t* address);

}  // namespace tessera::vgpu
