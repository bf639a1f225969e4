// Opcodes of integer arithmetic, of predicates, and of moves from special and constant registers.
#include "sass/decode/decode.h"

namespace tessera::sass {

// HW: the third operand of IMAD.HI and IMAD.WIDE is a pair of registers.
std::span<const Row> integer_rows() {
  constexpr auto kFixed = Timing::kFixed, kVariable = Timing::kVariable;
  static const Row rows[] = {
      // Integers.
      {0x24, "1234567", kFixed, "IMAD{.imad} {d}, {carry_out81}{a}, {b:i}, {c:i~}{carry_in87}"},
      {0x25, "1234567", kFixed,
       "IMAD.WIDE{.u32}{.x} {d:2}, {carry_out81}{a}, {b:i}, {c:2i~}{carry_in87}"},
      {0x27, "1234567", kFixed,
       "IMAD.HI{.u32}{.x} {d}, {carry_out81}{a}, {b:i}, {c:2i~}{carry_in87}"},
      {0x10, "1456", kFixed,
       "IADD3{.x} {d}, {carry_out81}{carry_out84}{a:~}, {b:i~}, {c:~}{carry_in87}{carry_in77}"},
      {0x411, "", kFixed,
       "LEA{.high}{.x}{.sx32} {d}, {carry_out81}{a:~}, {b}{lea_high}, {hex5@75}{carry_in87}"},
      {0x11, "1456", kFixed,
       "LEA{.high}{.x}{.sx32} {d}, {carry_out81}{a:~}, {b:~}{lea_high}, {hex5@75}{carry_in87}"},
      {0x12, "1456", kFixed, "LOP3{'.LUT} {carry_out81}{d}, {a}, {b}, {c}, {hex8@72}, {q87}"},
      {0x19, "123456", kFixed, "SHF{.direction}{.wrap}{.shifted}{.high} {d}, {a}, {b}, {c}"},
      {0x0c, "1456", kFixed,
       "ISETP{.compare}{.u32}{.and}{.ex} {p81}, {p84}, {a}, {b:i}, {q87}{ex68}"},
      {0x07, "1456", kFixed, "SEL {d}, {a}, {b}, {q87}"},
      {0x02, "1456", kFixed, "MOV {d}, {b}{lanes}"},
      {0x13, "1456", kFixed, "IABS {d}, {b:-|}"},
      {0x16, "123456", kFixed, "PRMT{.bytes} {d}, {a}, {b}, {c}"},
      {0x17, "1456", kFixed, "IMNMX{.u32} {d}, {a}, {b:i}, {q87}"},
      {0x36, "1456", kFixed, "VIADD{.pair} {d}, {a}, {b:-}"},
      {0x48, "1456", kFixed, "VIMNMX{.least}{.relu76} {d}, {both_out}{a}, {b:i}, {q87}"},
      {0x0f, "146", kFixed, "VIMNMX3{.least}{.relu76} {d}, {a}, {b}, {c}, {q87}"},
      {0x109, "1456", kVariable, "POPC {d}, {b:^}"},
      {0x100, "1456", kVariable, "FLO{.u32}{.shift_amount} {d}, {b:^}"},
      {0x101, "1456", kVariable, "BREV {d}, {b}"},
      {0x14, "1", kFixed, "VABSDIFF{.u32} {d}, {a}, {b}, {c}"},
      {0x15, "1", kFixed, "VABSDIFF4{.u8}{.accumulates} {d}, {a}, {b}, {c}"},
      {0x1a, "1456", kFixed, "SGXT{.wrap}{.u32} {d}, {a}, {b}"},
      {0x1b, "1456", kFixed, "BMSK{.wrap} {d}, {a}, {b}"},
      {0x26, "1", kFixed, "IDP{.dot} {d}, {a}, {b}, {c}"},
      {0x46, "1234567", kFixed, "VIADDMNMX{.s32at72}{.relu76} {d}, {a}, {b:-}, {c}, {q87}"},
      // Predicates, votes, and moves from other kinds of registers.
      {0x81c, "", kFixed,
       "PLOP3{'.LUT} {p81}, {p84}, {q87}, {q77}, {plop_third}, {plop_lut}, {hex8@16}"},
      {0x21f, "", kFixed, "PLOP3{'.LUT} {p81}, {p84}, {signs}, {hex8@72}, {hex1@80}"},
      {0x806, "", kFixed, "VOTE{.vote} {vote_result}{p81}, {q87}"},
      {0x3a1, "", kVariable, "MATCH{.match}{.u64} {match_result}{d}, {r24:U}"},
      {0x3c4, "", kVariable, "REDUX{.reduced}{.signed} {ud}, {r24}"},
      {0x03, "14", kFixed, "P2R{.byte76} {d}, {all_predicates}, {a}, {b}"},
      {0x04, "14", kFixed, "R2P {written_predicates}, {a}{.byte76}, {b}"},
      {0x919, "", kVariable, "S2R {d}, {special_register}"},
      {0x805, "", kFixed, "CS2R{.clock32} {d:k}, {special_register}"},
  };
  return rows;
}

}  // namespace tessera::sass
