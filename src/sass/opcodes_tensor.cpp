#include "sass/decode.h"

namespace tessera::sass {

// HW: operands are groups of registers whose number follows from the shape; a warpgroup's multiply
// reads its second matrix, and often its first, from shared memory through a descriptor.
std::span<const Row> tensor_rows() {
  constexpr auto kVariable = Timing::kVariable, kFixed = Timing::kFixed;
  static const Row rows[] = {
      {0x23c, "", kFixed, "HMMA{.hmma} {d:4}, {r24:4}, {r32:2}, {r64:4}"},
      {0x23f, "", kVariable, "DMMA{.dmma} {dmma}"},
      {u(0x9f0), "", kVariable, "HGMMA{.hgmma} {accumulators}, gdesc[{u24:4}], {more}"},
      {u(0xdf0), "", kVariable, "HGMMA{.hgmma} {accumulators}, {r24:4}, gdesc[{u32:2}], {more}"},
      {0x9c5, "", Timing::kControl, "WARPGROUP{warpgroup}"},
  };
  return rows;
}

}  // namespace tessera::sass
