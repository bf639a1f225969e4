#include "sass/decode/decode.h"

namespace tessera::sass {

// HW: operands are groups of registers, whose size depends on the shape. A warpgroup's product
// reads its second matrix, and often its first, from shared memory through a descriptor.
std::span<const Row> tensor_rows() {
  constexpr auto kVariable = Timing::kVariable, kFixed = Timing::kFixed;
  static const Row rows[] = {
      {0x23c, "", kFixed, "HMMA{.hmma} {hmma}"},
      {0x23f, "", kVariable, "DMMA{.dmma} {dmma}"},
      {u(0x9f0), "", kVariable, "HGMMA{.hgmma} {accumulators}, {operands}"},
      {u(0xdf0), "", kVariable, "HGMMA{.hgmma} {accumulators}, {operands_in_registers}"},
      {u(0x9f3), "", kVariable, "QGMMA{.qgmma} {accumulators}, {operands}"},
      {u(0xdf3), "", kVariable, "QGMMA{.qgmma} {accumulators}, {operands_in_registers}"},
      {u(0x9f1), "", kVariable, "IGMMA{.igmma} {accumulators}, {operands}"},
      {u(0xdf1), "", kVariable, "IGMMA{.igmma} {accumulators}, {operands_in_registers}"},
      {u(0x9f2), "", kVariable, "BGMMA{.bgmma} {accumulators}, {operands}"},
      {u(0xdf2), "", kVariable, "BGMMA{.bgmma} {accumulators}, {operands_in_registers}"},
      {0x237, "", kFixed, "IMMA{.imma} {imma}"},
      {0x23d, "", kFixed, "BMMA{.bmma} {bmma}"},
      {0x23a, "", kVariable, "MOVM{'.16.MT88} {d}, {r24}"},
      {0x9c5, "", Timing::kControl, "WARPGROUP{warpgroup}"},
  };
  return rows;
}

}  // namespace tessera::sass
