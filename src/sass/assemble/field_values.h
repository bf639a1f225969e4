// The values that a field may have, judged by the numbers in the text next to it. Internal to
// src/sass.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera::sass {

// The numbers in names, R12 and UR4: general registers and those of the warp.
std::vector<std::uint64_t> register_values(std::string_view text, bool of_warp);
// Every way in which the other numbers of `text` are kept in fields: as they are, negative, in
// units of 4 bytes, as distances from the instruction at `offset`, as floating-point numbers.
std::vector<std::uint64_t> field_values(std::string_view text, std::uint64_t offset);

}  // namespace tessera::sass
