// Rules of calls to functions that the driver provides and PTX only declares.
#include <algorithm>
#include <array>
#include <optional>

#include "vgpu/exec/decode/decoder.h"

namespace tessera::vgpu {
namespace {

struct SystemRow {
  std::string_view name;
  SystemFunction function;
  std::size_t arguments, returns;
};
constexpr SystemRow kRows[] = {
    {"vprintf", SystemFunction::kPrint, 2, 1},
    {"__assertfail", SystemFunction::kAssertFail, 5, 0},
    {"malloc", SystemFunction::kAllocate, 1, 1},
    {"__cuda_syscall_aligned_malloc", SystemFunction::kAllocateAligned, 2, 1},
    {"free", SystemFunction::kFree, 1, 0}};

std::vector<ParamCopy> places(Decoder& decoder, const ptx::Operand& given, std::size_t count,
                              std::uint32_t bytes) {
  if (given.elements.size() != count) decoder.unsupported("wrong number of arguments");
  std::vector<ParamCopy> places;
  for (const ptx::Operand& one : given.elements) {
    const auto at = decoder.params().offsets.find(one.name);
    if (at == decoder.params().offsets.end()) {
      decoder.unsupported("arguments of calls must be .param variables");
    }
    places.push_back({at->second, 0, bytes});
  }
  return places;
}

// Returns the "setp" whose result guards the branch around these instructions, so that its
// comparison decides whether a thread comes here. Returns null if there may be another way to come
// here.
const ptx::Instruction* comparison_before(const ptx::Function& function, std::size_t here) {
  const auto is_label = [&](std::size_t i) {
    return std::any_of(function.labels.begin(), function.labels.end(),
                       [i](const ptx::Label& label) { return label.instruction == i; });
  };
  std::size_t branch = here;
  do {
    if (branch == 0 || is_label(branch)) return nullptr;
    --branch;
  } while (function.body[branch].opcode != "bra");
  const std::string& guard = function.body[branch].guard;
  for (std::size_t i = branch; i > 0 && !guard.empty(); --i) {
    const ptx::Instruction& candidate = function.body[i - 1];
    if (candidate.operands.empty() || candidate.operands[0].name != guard) {
      if (is_label(i)) return nullptr;
      continue;
    }
    return candidate.opcode == "setp" && candidate.operands.size() == 3 ? &candidate : nullptr;
  }
  return nullptr;
}

std::optional<Scalar> compared(const ptx::Instruction& setp) {
  const ptx::Type type = type_named(setp.modifiers.back());
  if (type.bits != 32 && type.bits != 64) return std::nullopt;
  if (type.kind == ptx::TypeKind::kFloat) return type.bits == 32 ? Scalar::kF32 : Scalar::kF64;
  return type.bits == 32 ? Scalar::k32 : Scalar::k64;
}

// If the comparison is known, a failed assertion reports the two values that it compared.
Control& decode_assert(Decoder& decoder, const ptx::Instruction& instruction) {
  const ptx::Function& function = decoder.function();
  const auto here = static_cast<std::size_t>(&instruction - function.body.data());
  const ptx::Instruction* setp = comparison_before(function, here);
  const std::optional<Scalar> scalar = setp ? compared(*setp) : std::nullopt;
  if (!scalar) return decoder.control(ControlKind::kSystemCall, {});
  const std::array values{decoder.read(setp->operands[1], *scalar),
                          decoder.read(setp->operands[2], *scalar)};
  Control& control = decoder.control(ControlKind::kSystemCall, values);
  control.comparison = setp->form();
  return control;
}

}  // namespace

bool decode_system_call(Decoder& decoder, const ptx::Instruction& instruction,
                        std::string_view callee) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const SystemRow& one) { return one.name == callee; });
  std::uint32_t index;
  if (row == std::end(kRows) || decoder.scope().find_function(std::string(callee), index)) {
    return false;
  }
  CallSite site;
  const std::uint32_t result_bytes = row->function == SystemFunction::kPrint ? 4 : 8;
  site.returns = places(decoder, instruction.operands[0], row->returns, result_bytes);
  site.arguments = places(decoder, instruction.operands[2], row->arguments, 8);
  Control& control = row->function == SystemFunction::kAssertFail
                         ? decode_assert(decoder, instruction)
                         : decoder.control(ControlKind::kSystemCall, {});
  control.calls.push_back(std::move(site));
  decoder.control_op().op.immediate = static_cast<std::int64_t>(row->function);
  decoder.kernel().uses_heap |= row->function == SystemFunction::kAllocate ||
                                row->function == SystemFunction::kAllocateAligned;
  return true;
}

}  // namespace tessera::vgpu
