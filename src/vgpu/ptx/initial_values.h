// Reads the initial values of a variable, after its '=': numbers, nested lists, addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/ptx/ast.h"
#include "vgpu/ptx/cursor.h"

namespace tessera::vgpu::ptx {

// Fills `bytes`, the zeroed bytes of the variable. `extents` are the sizes of its dimensions,
// outermost first. The bytes of an address stay zero; `addresses` gets an entry for it.
void parse_initial_values(Cursor& cursor, Type type, std::span<const std::uint64_t> extents,
                          std::span<std::byte> bytes, std::vector<InitialAddress>& addresses);

}  // namespace tessera::vgpu::ptx
