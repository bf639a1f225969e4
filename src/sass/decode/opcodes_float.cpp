// Opcodes of floating-point arithmetic and of conversions.
#include "sass/decode/decode.h"

namespace tessera::sass {

// HW: conversions use pairs of registers for types of 64 bits ('F' and 't' in the words'
// arguments).
std::span<const Row> float_rows() {
  constexpr auto kFixed = Timing::kFixed, kVariable = Timing::kVariable;
  static const Row rows[] = {
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
      // FP64.
      {0x2b, "1234567", kFixed, "DFMA{.rounding} {d:2}, {a:2-|}, {b:2d-|}, {c:2d-|}"},
      {0x28, "1456", kFixed, "DMUL{.rounding} {d:2}, {a:2-|}, {b:2d-|}"},
      {0x29, "1237", kFixed, "DADD{.rounding} {d:2}, {a:2-|}, {c:2d-|}"},
      {0x2a, "1237", kFixed, "DSETP{.dcompare}{.and} {p81}, {p84}, {a:2-|}, {addend:2d-|}, {q87}"},
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
  };
  return rows;
}

}  // namespace tessera::sass
