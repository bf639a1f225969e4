#include "sass/decode/decode.h"

namespace tessera::sass {

// Arithmetic on uniform registers, and moves between uniform registers and threads' registers.
std::span<const Row> uniform_rows() {
  constexpr auto kFixed = Timing::kFixed, kVariable = Timing::kVariable;
  constexpr auto kWarp = Guard::kWarp;
  static const Row rows[] = {
      {u(0x290), "", kFixed,
       "UIADD3{.x} {ud}, {ucarry_out81}{ucarry_out84}{ua:~}, {ub:i~}, "
       "{uc:~}{ucarry_in87}{ucarry_in77}",
       kWarp},
      {u(0x890), "", kFixed,
       "UIADD3{.x} {ud}, {ucarry_out81}{ucarry_out84}{ua:~}, {ub:i~}, "
       "{uc:~}{ucarry_in87}{ucarry_in77}",
       kWarp},
      {u(0x897), "", kFixed, "UIADD3.64 {ud:2}, {ua:2-}, {ub:i-}, {uc:2-}", kWarp},
      {u(0x291), "", kFixed,
       "ULEA{.high}{.x}{.sx32} {ud}, {ucarry_out81}{ua:~}, {ub:~}{ulea_high}, "
       "{hex5@75}{ucarry_in87}",
       kWarp},
      {u(0x891), "", kFixed,
       "ULEA{.high}{.x}{.sx32} {ud}, {ucarry_out81}{ua:~}, {ub:~}{ulea_high}, "
       "{hex5@75}{ucarry_in87}",
       kWarp},
      {u(0x292), "", kFixed, "ULOP3{'.LUT} {ucarry_out81}{ud}, {ua}, {ub}, {uc}, {hex8@72}, {uq87}",
       kWarp},
      {u(0x892), "", kFixed, "ULOP3{'.LUT} {ucarry_out81}{ud}, {ua}, {ub}, {uc}, {hex8@72}, {uq87}",
       kWarp},
      {u(0x299), "", kFixed, "USHF{.direction}{.wrap}{.shifted}{.high} {ud}, {ua}, {ub}, {uc}",
       kWarp},
      {u(0x899), "", kFixed, "USHF{.direction}{.wrap}{.shifted}{.high} {ud}, {ua}, {ub}, {uc}",
       kWarp},
      {u(0x2a4), "", kFixed, "UIMAD{.x}{.u32} {ud}, {ua}, {ub:i}, {uc:i-}{ucarry_in87}", kWarp},
      {u(0x4a4), "", kFixed, "UIMAD{.x}{.u32} {ud}, {ua}, {ub:i}, {uc:i-}{ucarry_in87}", kWarp},
      {u(0x8a4), "", kFixed, "UIMAD{.x}{.u32} {ud}, {ua}, {ub:i}, {uc:i-}{ucarry_in87}", kWarp},
      {u(0x2a5), "", kFixed, "UIMAD.WIDE{.u32} {ud:2}, {ucarry_out81}{ua}, {ub:i}, {uc:2-}", kWarp},
      {u(0x8a5), "", kFixed, "UIMAD.WIDE{.u32} {ud:2}, {ucarry_out81}{ua}, {ub:i}, {uc:2-}", kWarp},
      {u(0x28c), "", kFixed,
       "UISETP{.compare}{.u32}{.and}{.ex} {up81}, {up84}, {ua}, {ub:i}, {uq87}{uex68}", kWarp},
      {u(0x88c), "", kFixed,
       "UISETP{.compare}{.u32}{.and}{.ex} {up81}, {up84}, {ua}, {ub:i}, {uq87}{uex68}", kWarp},
      {u(0x287), "", kFixed, "USEL {ud}, {ua}, {ub}, {uq87}", kWarp},
      {u(0x887), "", kFixed, "USEL {ud}, {ua}, {ub}, {uq87}", kWarp},
      {0x882, "", kFixed, "UMOV {ud}, {ub}", kWarp},
      {u(0xc82), "", kFixed, "UMOV {ud}, {ub}", kWarp},
      {0x89c, "", kFixed,
       "UPLOP3{'.LUT} {up81}, {up84}, {uq87}, {uq77}, {uq68}, {plop_lut}, {hex8@16}", kWarp},
      {u(0x896), "", kFixed, "UPRMT{.bytes} {ud}, {ua}, {ub}, {uc}", kWarp},
      {u(0x29a), "", kFixed, "USGXT{.wrap}{.u32} {ud}, {ua}, {ub}", kWarp},
      {u(0x89a), "", kFixed, "USGXT{.wrap}{.u32} {ud}, {ua}, {ub}", kWarp},
      {u(0x29b), "", kFixed, "UBMSK{.wrap} {ud}, {ua}, {ub}", kWarp},
      {u(0x89b), "", kFixed, "UBMSK{.wrap} {ud}, {ua}, {ub}", kWarp},
      {u(0x2bd), "", kFixed, "UFLO{.u32}{.shift_amount} {ud}, {ub:^}", kWarp},
      {u(0x2bf), "", kFixed, "UPOPC {ud}, {ub:^}", kWarp},
      {u(0x883), "", kFixed, "UP2UR {ud}, {all_warp_predicates}, {ua}, {ub}", kWarp},
      {u(0x884), "", kFixed, "UR2UP {written_warp_predicates}, {ua}, {ub}", kWarp},
      {0x886, "", kFixed, "VOTEU{.vote} {vote_lanes}{up81}, {q87}"},
      {0x82f, "", kFixed, "ELECT {p81}, {ud}, {q87}"},
      {0xab9, "", kFixed, "ULDC{.constant_size} {ud:s}, {uniform_constant}", kWarp},
      {u(0xabb), "", kFixed, "ULDC{.constant_size} {ud:s}, {indexed_constant}", kWarp},
      {0x2ca, "", kFixed, "R2UR{.or84} {carry_out81}{ud}, {r24}"},
      {0x3c2, "", kVariable, "R2UR {ud}, {r24}"},  // sm_75
      {0x9c3, "", kVariable, "S2UR {ud}, {special_register}"},
  };
  return rows;
}

}  // namespace tessera::sass
