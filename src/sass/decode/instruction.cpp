#include "sass/decode/instruction.h"

namespace tessera::sass {

std::uint64_t Instruction::bits(int first, int count) const {
  std::uint64_t value = 0;
  if (first >= 64) {
    value = high >> (first - 64);
  } else {
    value = low >> first;
    if (first > 0) value |= high << (64 - first);
  }
  return count == 64 ? value : value & ((std::uint64_t{1} << count) - 1);
}

std::optional<std::int64_t> branch_target(const Instruction& instruction, std::uint64_t offset,
                                          int sm) {
  constexpr int kBranch = 0x947, kOnWarp = 0x1947;  // the latter names a mask of threads
  if (instruction.key() != kBranch && instruction.key() != kOnWarp) return std::nullopt;
  // HW: the distance counts units of 4 bytes, signed, in bits 34-81; from sm_90 on its lowest 8
  // bits are in bits 16-23. Shifting the field to the top of 64 bits and back extends its sign.
  auto distance = static_cast<std::int64_t>(instruction.bits(34, 48) << 16) >> 16;
  if (sm >= 90) distance = distance * 256 + static_cast<std::int64_t>(instruction.bits(16, 8));
  return static_cast<std::int64_t>(offset + kInstructionBytes) + 4 * distance;
}

}  // namespace tessera::sass
