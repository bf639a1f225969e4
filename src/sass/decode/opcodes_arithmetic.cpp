#include "sass/decode/decode.h"

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
      {0x09, "1456", kFixed, "FMNMX{.ftz}{.nan}{.xor_sign} {d}, {a:-|}, {b:f-|}, {q87}"},
      {0x102, "1456", kVariable, "FCHK {p81}, {a:-|}, {b:f-|}"},
      {0x108, "1456", kVariable, "MUFU{.special} {d}, {b:f-|}"},
      {0x35, "1234567", kFixed, "HFMA2.MMA{.bf16} {d}, {a:-|}, {b:h-|}, {c:h-|}"},
      {0x0a, "1456", kFixed, "FSET.BF{.fcompare}{.ftz}{.and} {d}, {a:-|}, {b:f-|}, {q87}"},
      {0x30, "1237", kFixed, "HADD2{.f32}{.bf16}{.saturate} {d}, {a:w-|}, {addend:hw-|}"},
      {0x31, "1234567", kFixed, "HFMA2{.bf16}{.relu}{.saturate} {d}, {a:w-|}, {b:hw-|}, {c:hw-|}"},
      {0x32, "1456", kFixed, "HMUL2{.bf16}{.saturate} {d}, {a:w-|}, {b:hw-|}"},
      {0x33, "1237", kFixed, "HSET2{.bf}{.fcompare}{.half_and} {d}, {a:w-|}, {addend:hw-|}, {q87}"},
      {0x34, "1237", kFixed,
       "HSETP2{.fcompare}{.half_and} {p81}, {p84}, {a:w-|}, {addend:hw-|}, {q87}"},
      {0x40, "1456", kFixed, "HMNMX2{.bf16}{.nan} {d}, {a:w-|}, {b:hw-|}, {q87}"},
      // FP64.
      {0x2b, "1234567", kFixed, "DFMA{.rounding} {d:2}, {a:2-|}, {b:2d-|}, {c:2d-|}"},
      {0x28, "1456", kFixed, "DMUL{.rounding} {d:2}, {a:2-|}, {b:2d-|}"},
      {0x29, "1237", kFixed, "DADD{.rounding} {d:2}, {a:2-|}, {c:2d-|}"},
      {0x2a, "1237", kFixed, "DSETP{.dcompare}{.and} {p81}, {p84}, {a:2-|}, {addend:2d-|}, {q87}"},
      // Integers.
      {0x24, "1234567", kFixed, "IMAD{.imad} {d}, {carry_out81}{a}, {b:i}, {c:i~}{carry_in87}"},
      {0x25, "1234567", kFixed,
       "IMAD.WIDE{.u32}{.x} {d:2}, {carry_out81}{a}, {b:i}, {c:2i~}{carry_in87}"},
      {0x27, "1234567", kFixed,
       "IMAD.HI{.u32}{.x} {d}, {carry_out81}{a}, {b:i}, {c:2i~}{carry_in87}"},
      {0x10, "1456", kFixed,
       "IADD3{.x} {d}, {carry_out81}{carry_out84}{a:~}, {b:i~}, {c:~}{carry_in87}{carry_in77}"},
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
      {0x48, "1456", kFixed, "VIMNMX{.least} {d}, {a}, {b:i}, {q87}"},
      {0x109, "1456", kVariable, "POPC {d}, {b:^}"},
      {0x100, "1456", kVariable, "FLO{.u32}{.shift_amount} {d}, {b:^}"},
      {0x101, "1456", kVariable, "BREV {d}, {b}"},
      {0x14, "1", kFixed, "VABSDIFF{.u32} {d}, {a}, {b}, {c}"},
      {0x15, "1", kFixed, "VABSDIFF4{.u8}{.accumulates} {d}, {a}, {b}, {c}"},
      {0x1a, "1456", kFixed, "SGXT{.wrap}{.u32} {d}, {a}, {b}"},
      {0x1b, "1456", kFixed, "BMSK{.wrap} {d}, {a}, {b}"},
      {0x26, "1", kFixed, "IDP{.dot} {d}, {a}, {b}, {c}"},
      {0x46, "1234567", kFixed, "VIADDMNMX{.s32at72} {d}, {a}, {b:-}, {c}, {q87}"},
      // Conversions.
      {0x45, "1456", kFixed, "I2FP{.to_named}{.s32}{.rounding} {d}, {b:-|}"},
      {0x105, "1456", kVariable, "F2I{.ftz}{.int}{.from_float}{.whole}{.ntz} {d:t}, {b:fF-|}"},
      {0x111, "1456", kVariable, "F2I{.ftz}{.int}{.from_float}{.whole}{.ntz} {d:t}, {b:fF-|}"},
      {0x106, "1456", kVariable, "I2F{.to_float}{.from_int}{.rounding} {d:t}, {b:F}{part}"},
      {0x112, "1456", kVariable, "I2F{.to_float}{.from_int}{.rounding} {d:t}, {b:F}{part}"},
      {0x104, "1456", kVariable, "F2F{.ftz}{.to_named}{.from_named}{.rounding} {d:t}, {b:fF-|}"},
      {0x110, "1456", kVariable, "F2F{.ftz}{.to_named}{.from_named}{.rounding} {d:t}, {b:fF-|}"},
      {0x107, "1456", kVariable, "FRND{.ftz}{.to_float}{.whole} {d:t}, {b:fF-|}"},
      {0x113, "1456", kVariable, "FRND{.ftz}{.to_float}{.whole} {d:t}, {b:fF-|}"},
      {0x238, "", kFixed, "I2I{.integer76}{'.S32.SAT} {d}, {r32}"},
      {0x239, "", kFixed, "I2IP{.integer76}{'.S32.SAT} {d}, {r24}, {r32}, {r64}"},
      {0x23e, "", kFixed, "F2FP{f2fp}"},
      {0x243, "", kFixed, "F2IP{'.U8.F32}{.whole}{'.NTZ} {d}, {r24}, {r32}, {r64}"},
      // Predicates, and registers from elsewhere.
      {0x81c, "", kFixed,
       "PLOP3{'.LUT} {p81}, {p84}, {q87}, {q77}, {plop_third}, {plop_lut}, {hex8@16}"},
      {0x21f, "", kFixed, "PLOP3{'.LUT} {p81}, {p84}, {signs}, {hex8@72}, {hex1@80}"},
      {0x806, "", kFixed, "VOTE{.vote} {vote_result}{p81}, {q87}"},
      {0x3a1, "", kVariable, "MATCH{.match}{.u64} {match_result}{d}, {r24:U}"},
      {0x3c4, "", kVariable, "REDUX{.reduced}{.signed} {ud}, {r24}"},
      {0x803, "", kFixed, "P2R {d}, {all_predicates}, {a}, {b}"},
      {0x919, "", kVariable, "S2R {d}, {special_register}"},
      {0x805, "", kFixed, "CS2R{.clock32} {d:k}, {special_register}"},
  };
  return rows;
}

}  // namespace tessera::sass
