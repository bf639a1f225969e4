// Integer division that rounds up: how many pieces cover an extent.
#pragma once

#include <cstdint>

namespace tessera {

// The least number of pieces of `size` that cover `extent`. Expects extent >= 0 and size > 0.
constexpr std::int64_t ceil_div(std::int64_t extent, std::int64_t size) {
  return extent / size + (extent % size != 0 ? 1 : 0);
}

// The least multiple of `unit` that is not below `value`.
constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return ceil_div(value, unit) * unit;
}

}  // namespace tessera
