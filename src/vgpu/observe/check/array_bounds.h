// The bytes that an access may reach if its address is computed from one array.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/observe/flow/flow.h"
#include "vgpu/program/program.h"
#include "vgpu/report/observer.h"

namespace tessera::vgpu::check {

struct ArrayBounds {
  std::uint64_t begin = 0, end = 0;  // addresses as in WarpAccess::address; 0 and 0: not known
  bool is_local = false;
  const ArrayUse* use = nullptr;

  bool holds(Window window, std::uint64_t address, std::uint64_t bytes) const {
    if (is_local != (window == Window::kLocal)) return true;  // not by this address
    return address >= begin && address + bytes <= end;
  }
};

// Returns the bounds by instruction. `uses` may be null.
std::vector<ArrayBounds> array_bounds(const Kernel& kernel, const std::vector<ArrayUse>* uses);

// Returns "tile" for "_ZZ9transposePfPKfiE4tile".
std::string array_name(const std::string& variable);

}  // namespace tessera::vgpu::check
