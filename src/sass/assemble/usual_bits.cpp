#include "sass/assemble/usual_bits.h"

#include <algorithm>

namespace tessera::sass {
namespace {

const UsualBits* find(int key, int sm) {
  const auto rows = usual_rows();
  const auto found = std::ranges::find_if(rows, [&](const UsualBits& row) {
    return row.key == key && row.first_sm <= sm && sm <= row.last_sm;
  });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

Instruction usual_bits(int key, int sm) {
  if (const UsualBits* row = find(key, sm)) return {row->low, row->high};
  constexpr std::uint64_t kAlways = 7;  // PT
  const std::uint64_t opcode = static_cast<std::uint64_t>(key) & 0xFFF;
  const std::uint64_t uses_uniform = static_cast<std::uint64_t>(key) >> 12 & 1;
  return {opcode | kAlways << 12, kAlways << (81 - 64) | kAlways << (84 - 64) |
                                      kAlways << (87 - 64) | uses_uniform << (91 - 64)};
}

bool is_usual(int key, int sm) { return find(key, sm) != nullptr; }

}  // namespace tessera::sass
