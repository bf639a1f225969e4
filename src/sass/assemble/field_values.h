// Lists the values that a field may have, taken from the numbers in the text of its operand.
// Internal to src/sass.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera::sass {

// Returns the numbers in names of general (R12) or, if `of_warp`, of uniform registers (UR4).
std::vector<std::uint64_t> register_values(std::string_view text, bool of_warp);
// Returns every value by which a field may encode a number of `text` that is no part of a name: the
// number itself, its negative, the number in units of 4 bytes, its distance from the end of the
// instruction at `offset`, and its floating-point formats.
std::vector<std::uint64_t> field_values(std::string_view text, std::uint64_t offset);

}  // namespace tessera::sass
