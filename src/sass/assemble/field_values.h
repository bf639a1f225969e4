// Lists the values that a field may have, judged by the numbers in the text next to it. Internal to
// src/sass.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera::sass {

// Returns the numbers in names of general registers (R12) or, if `of_warp`, of uniform ones (UR4).
std::vector<std::uint64_t> register_values(std::string_view text, bool of_warp);
// Returns every value by which a field may hold one of the other numbers of `text`: the number
// itself, its negative, the number in units of 4 bytes, its distance from the instruction at
// `offset`, and its floating-point formats.
std::vector<std::uint64_t> field_values(std::string_view text, std::uint64_t offset);

}  // namespace tessera::sass
