// Rules of tensormap.*, and of instructions that only concern the hardware.
#include <array>
#include <utility>

#include "vgpu/async/operations.h"
#include "vgpu/exec/decode/async_operands.h"
#include "vgpu/exec/decode/ordering.h"
#include "vgpu/exec/warp/warp.h"

namespace tessera::vgpu {
namespace {

struct NamedField {
  std::string_view word;
  MapField field;
  bool ordinal;  // whether the number of a dimension comes before the value
};
constexpr std::array<NamedField, 10> kFields = {{
    {"global_address", MapField::kAddress, false},
    {"rank", MapField::kRank, false},
    {"box_dim", MapField::kBox, true},
    {"global_dim", MapField::kSize, true},
    {"global_stride", MapField::kStride, true},
    {"element_stride", MapField::kElementStride, true},
    {"elemtype", MapField::kType, false},
    {"interleave_layout", MapField::kInterleave, false},
    {"swizzle_mode", MapField::kSwizzle, false},
    {"fill_mode", MapField::kFill, false},
}};

// Decodes tensormap.replace.tile.field{.space}.b1024.type [map]{, dimension}, value.
void decode_replace(Decoder& decoder, const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  for (const NamedField& named : kFields) {
    if (!has_modifier(instruction, named.word)) continue;
    const Window window =
        has_modifier(instruction, "global") ? Window::kGlobal : shared_or_generic(instruction);
    const std::size_t at = named.ordinal ? 2 : 1;
    const std::int64_t ordinal = named.ordinal ? operands.at(1).integer : 0;
    const std::int64_t dimensions = named.field == MapField::kStride ? 4 : 5;
    if (ordinal < 0 || ordinal >= dimensions) decoder.unsupported("there is no such dimension");
    const Value map = async_address(decoder, operands.at(0), window);
    Value value;
    if (has_modifier(instruction, "b64")) {
      value = decoder.read(operands.at(at), Scalar::k64);
    } else {
      value = decoder.temporary(Scalar::k64);
      decoder.emit("mov.pack.b64.2", {value, decoder.read(operands.at(at), Scalar::k32),
                                      decoder.constant(Scalar::k32, 0)});
    }
    DraftOp& op = decoder.emit_run(map_replace, std::array{map, value}, 0);
    op.op.flags = static_cast<std::uint32_t>(named.field);
    op.op.immediate = ordinal;
    return;
  }
  decoder.unsupported();
}

// Decodes tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned
// [to], [from], 128.
void decode_tensormap(Decoder& decoder, const ptx::Instruction& instruction) {
  if (has_modifier(instruction, "replace")) return decode_replace(decoder, instruction);
  if (!has_modifier(instruction, "cp_fenceproxy")) decoder.unsupported();
  const Value to = async_address(decoder, instruction.operands.at(0), Window::kGlobal);
  const Value from = async_address(decoder, instruction.operands.at(1), Window::kShared);
  decoder.control(ControlKind::kCollective, std::array{to, from});
  decoder.control_op().op.run = map_publish;
  decoder.control_op().op.flags = ordering_flags(instruction, MemoryOrder::kRelease);
}

// The instruction is only recorded, to check that all warps of a warpgroup run it alike.
void move_registers(const Op* op, const Op*, Lanes& lanes) {
  warp_of(lanes).note_register_move(*op);
}

// setmaxnreg.{inc,dec}.sync.aligned.u32 count: the whole warp runs it. It has no effect on
// registers.
void decode_setmaxnreg(Decoder& decoder, const ptx::Instruction& instruction) {
  const std::int64_t count = instruction.operands.at(0).integer;
  if (count < 24 || count > 256 || count % 8 != 0) {
    decoder.unsupported("the number of registers must be a multiple of 8 from 24 to 256");
  }
  decoder.control(ControlKind::kCollective, {});
  decoder.control_op().op.run = move_registers;
  decoder.control_op().op.immediate = count;
}

void do_nothing(const Op*, const Op*, Lanes&) {}

// Launches run one after the other here, so a grid need not wait; but the checks must see the wait.
void tell_of_wait(const Op* first, const Op* last, Lanes& lanes) {
  if (!lanes.observer) return;
  for (; first != last; ++first) {
    lanes.observer->fence(lanes.warp->actor(*first, lanes.mask), FenceKind::kEarlierLaunches,
                          MemoryScope::kGpu);
  }
}

void decode_griddepcontrol(Decoder& decoder, const ptx::Instruction& instruction) {
  decoder.emit_run(has_modifier(instruction, "wait") ? tell_of_wait : do_nothing, {}, 0);
}

void decode_nothing(Decoder& decoder, const ptx::Instruction&) {
  decoder.emit_run(do_nothing, {}, 0);
}

constexpr std::array kRules = {
    RuleEntry{"tensormap", decode_tensormap}, RuleEntry{"setmaxnreg", decode_setmaxnreg},
    RuleEntry{"griddepcontrol", decode_griddepcontrol}, RuleEntry{"pmevent", decode_nothing}};

}  // namespace

std::span<const RuleEntry> map_rules() { return kRules; }

}  // namespace tessera::vgpu
