// Rules of ldmatrix, stmatrix and movmatrix.
#include <array>

#include "vgpu/exec/decode/rules/matrix_rules.h"
#include "vgpu/exec/ops/matrix/matrix_flags.h"
#include "vgpu/program/flags.h"

namespace tessera::vgpu {
namespace {

struct MoveForm {
  std::uint32_t flags = 0;
  std::size_t count = 0;
};

MoveForm move_form(Decoder& decoder, const ptx::Instruction& instruction) {
  for (const std::string& word : instruction.modifiers) {
    if (word == "m16n16" || word == "m8n16" || word == "m16n8") {
      decoder.unsupported("." + word + " is not for GPUs of this kind: sm_90 has .m8n8 alone");
    }
  }
  MatrixWords words = matrix_words(decoder, instruction);
  MoveForm form;
  if (!words.take("m8n8") || !words.take("b16")) decoder.unsupported();
  for (const std::size_t count : {1, 2, 4}) {
    if (words.take("x" + std::to_string(count))) form.count = count;
  }
  if (form.count == 0) decoder.unsupported();
  form.flags = static_cast<std::uint32_t>(take_window(words));
  if (form.flags == static_cast<std::uint32_t>(Window::kGlobal)) decoder.unsupported();
  form.flags |= static_cast<std::uint32_t>(form.count) << kTileCountShift;
  if (words.take("trans")) form.flags |= kTransposeTiles;
  refuse_others(decoder, words);
  return form;
}

void decode_move(Decoder& decoder, const ptx::Instruction& instruction, bool loads) {
  const MoveForm form = move_form(decoder, instruction);
  if (instruction.operands.size() != 2) decoder.unsupported("wrong operand count");
  const ptx::Operand& registers = instruction.operands[loads ? 0 : 1];
  const auto window = static_cast<Window>(form.flags & kWindowMask);
  std::int64_t offset;
  bool wide;
  const Value address = decoder.address(instruction.operands[loads ? 1 : 0], window, offset, wide);
  std::vector<Value> list;
  if (loads) {
    append_writes(decoder, registers, Scalar::k32, form.count, list);
  } else {
    append_reads(decoder, registers, Scalar::k32, form.count, form.count, list);
  }
  DraftOp& op = emit_for_warp(decoder, loads ? "ldmatrix" : "stmatrix", std::array{address},
                              std::move(list), loads ? form.count : 0);
  op.op.immediate = offset;
  op.op.flags = form.flags | (wide ? kAddress64 : 0);
}

}  // namespace

void decode_ldmatrix(Decoder& decoder, const ptx::Instruction& instruction) {
  decode_move(decoder, instruction, true);
}
void decode_stmatrix(Decoder& decoder, const ptx::Instruction& instruction) {
  decode_move(decoder, instruction, false);
}

void decode_movmatrix(Decoder& decoder, const ptx::Instruction& instruction) {
  MatrixWords words = matrix_words(decoder, instruction);
  const auto& operands = instruction.operands;
  if (!words.take("m8n8") || !words.take("trans") || !words.take("b16") || operands.size() != 2) {
    decoder.unsupported();
  }
  refuse_others(decoder, words);
  const std::array values{decoder.write(operands[0], Scalar::k32),
                          decoder.read(operands[1], Scalar::k32)};
  decoder.control(ControlKind::kCollective, values, 1);
  decoder.control_op().op.run = decoder.operation("movmatrix").run;
}

}  // namespace tessera::vgpu
