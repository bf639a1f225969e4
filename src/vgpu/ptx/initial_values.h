// Initial values of a variable, after its '=': numbers, nested lists, addresses of other variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/ptx/ast.h"
#include "vgpu/ptx/cursor.h"

namespace tessera::vgpu::ptx {

// Fills `bytes`, which are zero and as many as the variable has; `extents` are the sizes of its
// dimensions, outermost first. Addresses are listed: their bytes stay zero.
void parse_initial_values(Cursor& cursor, Type type, std::span<const std::uint64_t> extents,
                          std::span<std::byte> bytes, std::vector<InitialAddress>& addresses);

}  // namespace tessera::vgpu::ptx
