// Helpers for characters and numbers of the text form. Internal to src/sass.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::sass {

bool is_digit(char letter);

// Returns the number as "0x1f" or, with leading zeros, "0x0001f".
std::string padded_hex(std::uint64_t value, int digits = 1);

}  // namespace tessera::sass
