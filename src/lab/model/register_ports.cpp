#include "lab/model/register_ports.h"

#include <algorithm>

namespace tessera::lab {

int RegisterPorts::bubbles(const sass::Instruction& instruction) {
  constexpr int kFfma = 0x223;  // three registers
  constexpr int kZero = 255;
  if (instruction.key() != kFfma) return 0;
  const std::array<int, 3> sources = {static_cast<int>(instruction.bits(24, 8)),
                                      static_cast<int>(instruction.bits(32, 8)),
                                      static_cast<int>(instruction.bits(64, 8))};
  std::array<int, 2> reads = {0, 0};
  for (std::size_t slot = 0; slot < sources.size(); ++slot) {
    const int source = sources[slot];
    if (source == kZero) continue;
    int& kept = cached_[slot][source % 2];
    if (source != kept) ++reads[source % 2];
    kept = instruction.bits(122 + static_cast<int>(slot), 1) != 0 ? source : -1;
  }
  return std::max({reads[0], reads[1], 1}) - 1;
}

}  // namespace tessera::lab
