#include "sass/decode.h"

namespace tessera::sass {

// HW: IMAD.HI and IMAD.WIDE add a pair of registers; conversions move pairs where a type has 64
// bits ('f' and 't' of their fields).
std::span<const Row> arithmetic_rows() {
  constexpr auto kFixed = Timing::kFixed, kVariable = Timing::kVariable;
  static const Row rows[] = {
      // FP32 and FP16.
      {0x23, "1234567", kFixed, "FFMA{.ftz}{.rounding}{.saturate} {d}, {a:-|}, {b:f-|}, {c:f-|}"},
      {0x20, "1456", kFixed, "FMUL{.ftz}{.scale}{.rounding}{.saturate} {d}, {a:-|}, {b:f-|}"},
      {0x21, "1237", kFixed, "FADD{.ftz}{.rounding}{.saturate} {d}, {a:-|}, {addend:f-|}"},
      {0x0b, "1456", kFixed, "FSETP{.fcompare}{.ftz}{.and} {p81}, {p84}, {a:-|}, {b:f-|}, {q87}"},
      {0x08, "1456", kFixed, "FSEL {d}, {a:-|}, {b:f-|}, {q87}"},
      {0x09, "1456", kFixed, "FMNMX{.ftz} {d}, {a:-|}, {b:f-|}, {q87}"},
      {0x102, "1456", kVariable, "FCHK {p81}, {a:-|}, {b:f-|}"},
      {0x108, "1456", kVariable, "MUFU{.special} {d}, {b:f-|}"},
      {0x35, "1234567", kFixed, "HFMA2.MMA {d}, {a:-|}, {b:h-|}, {c:h-|}"},
      // FP64.
      {0x2b, "1234567", kFixed, "DFMA{.rounding} {d:2}, {a:2-|}, {b:2d-|}, {c:2d-|}"},
      {0x28, "1456", kFixed, "DMUL{.rounding} {d:2}, {a:2-|}, {b:2d-|}"},
      {0x29, "1237", kFixed, "DADD{.rounding} {d:2}, {a:2-|}, {c:2d-|}"},
      {0x2a, "1237", kFixed, "DSETP{.fcompare}{.and} {p81}, {p84}, {a:2-|}, {addend:2d-|}, {q87}"},
      // Integers.
      {0x24, "1234567", kFixed, "IMAD{.imad} {d}, {carry_out81}{a}, {b:i}, {c:i~}{carry_in87}"},
      {0x25, "1234567", kFixed,
       "IMAD.WIDE{.u32}{.x} {d:2}, {carry_out81}{a}, {b:i}, {c:2i~}{carry_in87}"},
      {0x27, "1234567", kFixed,
       "IMAD.HI{.u32}{.x} {d}, {carry_out81}{a}, {b:i}, {c:2i~}{carry_in87}"},
      {0x10, "1456", kFixed,
       "IADD3{.x} {d}, {carry_out81}{carry_out84}{a:~}, {b:i~}, {c:~}{carry_in87}{carry_in77}"},
      {0x11, "1456", kFixed,
       "LEA{.high}{.x}{.sx32} {d}, {carry_out81}{a:~}, {b}{lea_high}, {hex5@75}{carry_in87}"},
      {0x12, "1456", kFixed, "LOP3{'.LUT} {carry_out81}{d}, {a}, {b}, {c}, {hex8@72}, {q87}"},
      {0x19, "123456", kFixed, "SHF{.direction}{.wrap}{.shifted}{.high} {d}, {a}, {b}, {c}"},
      {0x0c, "1456", kFixed,
       "ISETP{.compare}{.u32}{.and}{.ex} {p81}, {p84}, {a}, {b:i}, {q87}{ex68}"},
      {0x07, "1456", kFixed, "SEL {d}, {a}, {b}, {q87}"},
      {0x02, "1456", kFixed, "MOV {d}, {b}{lanes}"},
      {0x13, "1456", kFixed, "IABS {d}, {b:-|}"},
      {0x16, "123456", kFixed, "PRMT{.bytes} {d}, {a}, {b}, {c}"},
      {0x17, "1456", kFixed, "IMNMX{.u32} {d}, {a}, {b:i}, {q87}"},
      {0x36, "1456", kFixed, "VIADD {d}, {a}, {b:-}"},
      {0x48, "1456", kFixed, "VIMNMX{.u32at72} {d}, {a}, {b:i}, {q87}"},
      {0x109, "1456", kVariable, "POPC {d}, {b:~}"},
      {0x100, "1456", kVariable, "FLO{.u32} {d}, {b:~}"},
      // Conversions.
      {0x45, "1456", kFixed, "I2FP{.to_named}{.s32} {d}, {b:-|}"},
      {0x105, "1456", kVariable, "F2I{.ftz}{.int}{.from_float}{.whole}{.ntz} {d:t}, {b:fF-|}"},
      {0x111, "1456", kVariable, "F2I{.ftz}{.int}{.from_float}{.whole}{.ntz} {d:t}, {b:fF-|}"},
      {0x106, "1456", kVariable, "I2F{.to_float}{.from_int}{.rounding} {d:t}, {b:F}"},
      {0x112, "1456", kVariable, "I2F{.to_float}{.from_int}{.rounding} {d:t}, {b:F}"},
      {0x104, "1456", kVariable, "F2F{.ftz}{.to_named}{.from_named}{.rounding} {d:t}, {b:fF-|}"},
      {0x110, "1456", kVariable, "F2F{.ftz}{.to_named}{.from_named}{.rounding} {d:t}, {b:fF-|}"},
      // Predicates, and registers from elsewhere.
      {0x81c, "", kFixed,
       "PLOP3{'.LUT} {p81}, {p84}, {q87}, {q77}, {plop_third}, {plop_lut}, {hex8@16}"},
      {0x803, "", kFixed, "P2R {d}, {all_predicates}, {a}, {b}"},
      {0x919, "", kVariable, "S2R {d}, {special_register}"},
      {0x805, "", kFixed, "CS2R{.clock32} {d:k}, {special_register}"},
  };
  return rows;
}

}  // namespace tessera::sass
