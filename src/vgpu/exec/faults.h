// How an operation stops the kernel. None of these returns.
#pragma once

#include <cstdint>

#include "vgpu/exec/op.h"
#include "vgpu/memory/windows.h"

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
[[noreturn]] void fault_out_of_bounds(const Lanes& lanes, const Op& op, const BadAccess& access);
[[noreturn]] void fault_misaligned(const Lanes& lanes, const Op& op, const BadAccess& access);

}  // namespace tessera::vgpu
