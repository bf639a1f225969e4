#include "sass/decode.h"

namespace tessera::sass {

std::span<const Row> control_rows() {
  constexpr auto kControl = Timing::kControl, kVariable = Timing::kVariable;
  static const Row rows[] = {
      {0x947, "", kControl, "BRA{.branch} {branch_condition}{target}"},
      {0x944, "", kControl, "CALL{'.REL.NOINC} {target}"},
      {0x950, "", kControl, "RET{'.REL.NODEC} {r24:2} {target}"},
      {0x945, "", kControl, "BSSY {convergence}, {join}"},
      {0x941, "", kControl, "BSYNC {convergence}"},
      {0x942, "", kControl, "BREAK {convergence}"},
      {0x355, "", kVariable, "BMOV{'.32}{.clear} {d}, {convergence24}"},
      {0x356, "", kVariable, "BMOV{'.32} {convergence24}, {r32}"},
      {0x94d, "", kControl, "EXIT"},
      {0x918, "", kControl, "NOP"},
      {0x946, "", kControl, "YIELD"},
      {0x948, "", kControl, "WARPSYNC{meeting}"},
      {0x348, "", kControl, "WARPSYNC {r24}"},
      {0xb1d, "", kControl, "BAR{.bar}{.defer} {barrier}"},
      {0x51d, "", kControl, "BAR{.bar}{.defer} {barrier}"},
      {0x31d, "", kControl, "BAR{.bar}{.defer} {barrier}"},
      {0x91d, "", kControl, "BAR{.bar}{.defer} {barrier}"},
      {0x992, "", kControl, "MEMBAR{.fence_order}{.fence_scope}"},
      {0x9ab, "", kControl, "ERRBAR"},
      {0x5ab, "", kControl, "CGAERRBAR"},
      {u(0x9c7), "", kControl, "UCGABAR_ARV"},
      {u(0xdc7), "", kControl, "UCGABAR_WAIT"},
      {u(0x9c8), "", kControl, "USETMAXREG{maximum_registers}"},
  };
  return rows;
}

}  // namespace tessera::sass
