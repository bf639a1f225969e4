#include "sass/decode/decode.h"

namespace tessera::sass {

std::span<const Row> control_rows() {
  constexpr auto kControl = Timing::kControl, kVariable = Timing::kVariable;
  static const Row rows[] = {
      {0x947, "", kControl, "BRA{.branch}{.any} {branch_condition}{target}"},
      {u(0x947), "", kControl, "BRA{.diverges} {u24}, {target}"},
      {0x949, "", kControl, "BRX {r24:2} {distance}"},
      {0x343, "", kControl, "CALL{'.ABS.NOINC} {r24:2}"},
      {0x943, "", kControl, "CALL{'.ABS.NOINC} {hex32@32}"},
      {0x344, "", kControl, "CALL{'.REL.NOINC} {r24:2} {target}"},
      {0x944, "", kControl, "CALL{'.REL.NOINC} {target}"},
      {0x950, "", kControl, "RET{return}"},
      {0x945, "", kControl, "BSSY {convergence}, {join}"},
      {0x941, "", kControl, "BSYNC {convergence}"},
      {0x942, "", kControl, "BREAK {branch_condition}{convergence}"},
      {0x355, "", kVariable, "BMOV{'.32}{.clear} {d}, {convergence24}"},
      {0x356, "", kVariable, "BMOV{'.32} {convergence24}, {r32}"},
      {0x94e, "", Timing::kFixed, "LEPC {d:2}, {near}"},
      {0x94d, "", kControl, "EXIT{.exit}{exit_condition}"},
      {0x918, "", kControl, "NOP"},
      {0x946, "", kControl, "YIELD"},
      {0x948, "", kControl, "WARPSYNC{reconvergence}"},
      {0x348, "", kControl, "WARPSYNC{collective}"},
      {0xb1d, "", kControl, "BAR{.bar}{reduces}{.defer} {barrier}"},
      {0x51d, "", kControl, "BAR{.bar}{reduces}{.defer} {barrier}"},
      {0x31d, "", kControl, "BAR{.bar}{reduces}{.defer} {barrier}"},
      {0x91d, "", kControl, "BAR{.bar}{reduces}{.defer} {barrier}"},
      {0x31c, "", kVariable, "B2R{'.RESULT} {d}{result81}"},
      {0x91b, "", kControl, "ENDCOLLECTIVE"},
      {0x35d, "", kControl, "NANOSLEEP{.syncs} {r32}"},
      {0x95d, "", kControl, "NANOSLEEP{.syncs} {hex32@32}"},
      {0x95c, "", kControl, "BPT{'.TRAP} {hex20@34}"},
      {0x801, "", kControl, "PMTRIG {hex16@32}"},
      {0x82d, "", kControl, "PREEXIT"},
      {0x82e, "", kControl, "ACQBULK"},
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
