// Rules for addresses in the shared memories of a cluster. The rank of the CTA begins at bit 24, in
// a 32-bit shared address and in a generic address.
#include <array>

#include "vgpu/exec/decode/decoder.h"

namespace tessera::vgpu {
namespace {

// Replaces the rank in address a by rank b. Operands: d, a, b.
template <class T>
void map_address(const Op* first, const Op* last, Lanes& lanes) {
  for (; first != last; ++first) {
    const auto* a = reinterpret_cast<const T*>(lanes.registers + first->operand[1]);
    const auto* b = reinterpret_cast<const std::uint32_t*>(lanes.registers + first->operand[2]);
    auto* d = reinterpret_cast<T*>(lanes.registers + first->operand[0]);
    for (int l = 0; l < kLanes; ++l) {
      if (!(lanes.mask >> l & 1)) continue;
      d[l] = (a[l] & ~(T{0xf} << kRankShift)) | T{b[l] & 0xf} << kRankShift;
    }
  }
}

// Returns the rank in address a; ~0 if a is a generic address outside shared memory. Operands: d,
// a.
template <class T>
void read_rank(const Op* first, const Op* last, Lanes& lanes) {
  for (; first != last; ++first) {
    const auto* a = reinterpret_cast<const T*>(lanes.registers + first->operand[1]);
    auto* d = reinterpret_cast<std::uint32_t*>(lanes.registers + first->operand[0]);
    const auto base = static_cast<std::uint64_t>(first->immediate);
    for (int l = 0; l < kLanes; ++l) {
      if (!(lanes.mask >> l & 1)) continue;
      const std::uint64_t inside = a[l] - base;
      d[l] = inside < kWindowBytes ? static_cast<std::uint32_t>(inside >> kRankShift) : ~0u;
    }
  }
}

// Decodes mapa[.shared::cluster].{u32,u64} d, a, b.
void decode_mapa(Decoder& decoder, const ptx::Instruction& instruction) {
  const Scalar scalar = register_scalar(type_named(instruction.modifiers.back()));
  if (scalar != Scalar::k32 && scalar != Scalar::k64) decoder.unsupported();
  const Value a = decoder.read(instruction.operands.at(1), scalar);
  const Value b = decoder.read(instruction.operands.at(2), Scalar::k32);
  const Value d = decoder.write(instruction.operands.at(0), scalar);
  const bool wide = scalar == Scalar::k64;
  decoder.emit_run(wide ? map_address<std::uint64_t> : map_address<std::uint32_t>,
                   std::array{d, a, b}, 1);
}

// Decodes getctarank[.shared::cluster].{u32,u64} d, a.
void decode_getctarank(Decoder& decoder, const ptx::Instruction& instruction) {
  const Scalar scalar = register_scalar(type_named(instruction.modifiers.back()));
  if (scalar != Scalar::k32 && scalar != Scalar::k64) decoder.unsupported();
  const Value a = decoder.read(instruction.operands.at(1), scalar);
  const Value d = decoder.write(instruction.operands.at(0), Scalar::k32);
  const bool wide = scalar == Scalar::k64;
  DraftOp& op = decoder.emit_run(wide ? read_rank<std::uint64_t> : read_rank<std::uint32_t>,
                                 std::array{d, a}, 1);
  const bool shared = has_modifier(instruction, "shared::cluster");
  op.op.immediate = shared ? 0 : static_cast<std::int64_t>(kSharedWindow);
}

constexpr std::array kRules = {RuleEntry{"mapa", decode_mapa},
                               RuleEntry{"getctarank", decode_getctarank}};

}  // namespace

std::span<const RuleEntry> cluster_rules() { return kRules; }

}  // namespace tessera::vgpu
