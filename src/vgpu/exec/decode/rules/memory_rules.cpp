// Rules of ld and st: which memory, how wide in memory, how wide in the register.
#include <algorithm>
#include <array>

#include "vgpu/exec/decode/async_operands.h"
#include "vgpu/exec/decode/decoder.h"
#include "vgpu/exec/decode/ordering.h"
#include "vgpu/exec/warp/warp.h"
#include "vgpu/program/flags.h"

namespace tessera::vgpu {
namespace {

struct MemoryForm {
  Window window = Window::kGeneric;
  std::uint32_t flags = 0, ordering = 0;
  ptx::Type type;
  int count = 1;
};

// Whether a modifier has no effect on the result. Order, scope and cache modifiers have none: each
// access is visible to all threads at once, in program order. Observers receive order and scope.
bool changes_nothing(std::string_view word) {
  constexpr std::array<std::string_view, 20> kWords = {
      "volatile", "relaxed", "weak", "acquire", "release", "mmio", "cta",
      "cluster",  "gpu",     "sys",  "nc",      "ca",      "cg",   "cs",
      "lu",       "cv",      "wb",   "wt",      "unified", "uni"};
  const bool hint = word.starts_with("L1::") || word.starts_with("L2::");
  return hint || std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

MemoryForm memory_form(Decoder& decoder, const ptx::Instruction& instruction) {
  MemoryForm form;
  for (const std::string& modifier : instruction.modifiers) {
    const std::string_view word = modifier;
    if (word == "global" || word == "const") {
      form.window = Window::kGlobal;
    } else if (word == "shared" || word == "shared::cta") {
      form.window = Window::kShared;
    } else if (word == "shared::cluster") {
      form.window = Window::kShared;
      form.flags = kSharedCluster;
    } else if (word == "local") {
      form.window = Window::kLocal;
    } else if (word.starts_with("param")) {
      form.window = Window::kParam;
    } else if (word == "v2" || word == "v4") {
      form.count = word == "v2" ? 2 : 4;
    } else if (&modifier != &instruction.modifiers.back() && !changes_nothing(word)) {
      decoder.unsupported();
    }
  }
  form.type = type_named(instruction.modifiers.back());
  if (register_scalar(form.type) == Scalar::kNone) decoder.unsupported();
  form.ordering = ordering_flags(instruction, MemoryOrder::kWeak);
  return form;
}

std::string count_prefix(int count) { return count == 1 ? "" : "v" + std::to_string(count) + "."; }

const ptx::Operand& element(const ptx::Operand& operand, int i) {
  return operand.kind == ptx::OperandKind::kVector ? operand.elements.at(std::size_t(i)) : operand;
}

// Returns the bits of a register operand, which may be more than those in memory.
int register_bits(Decoder& decoder, const ptx::Operand& operand, const MemoryForm& form) {
  int bits = form.type.bits <= 16 ? 16 : form.type.bits;
  for (int i = 0; i < form.count; ++i) {
    const Scalar declared = decoder.declared(element(operand, i));
    if (declared != Scalar::kNone) bits = bits_of(declared);
  }
  return bits;
}

Scalar scalar_of_bits(int bits) {
  return bits == 16 ? Scalar::k16 : bits == 32 ? Scalar::k32 : Scalar::k64;
}

void set_address(DraftOp& op, const MemoryForm& form, std::int64_t immediate, bool wide) {
  op.op.immediate = immediate;
  op.op.flags = static_cast<std::uint32_t>(form.window) | (wide ? kAddress64 : 0) | form.flags |
                form.ordering;
}

void decode_ld(Decoder& decoder, const ptx::Instruction& instruction) {
  const MemoryForm form = memory_form(decoder, instruction);
  const ptx::Operand& to = instruction.operands.at(0);
  const int bits = register_bits(decoder, to, form);
  const bool is_signed = form.type.kind == ptx::TypeKind::kSigned && form.type.bits < bits;
  const auto& operation =
      decoder.operation("ld." + count_prefix(form.count) + (is_signed ? "s" : "u") +
                        std::to_string(form.type.bits) + "." + std::to_string(bits));
  std::array<Value, kMaxOperands> values{};
  for (int i = 0; i < form.count; ++i) {
    values[i] = decoder.write(element(to, i), scalar_of_bits(bits));
  }
  std::int64_t immediate;
  bool wide;
  values[form.count] = decoder.address(instruction.operands.at(1), form.window, immediate, wide);
  DraftOp& op = decoder.emit(operation, std::span(values.data(), std::size_t(form.count) + 1));
  set_address(op, form, immediate, wide);
}

void decode_st(Decoder& decoder, const ptx::Instruction& instruction) {
  if (has_modifier(instruction, "async")) return decode_send(decoder, instruction);
  const MemoryForm form = memory_form(decoder, instruction);
  const ptx::Operand& from = instruction.operands.at(1);
  const int bits = register_bits(decoder, from, form);
  const auto& operation =
      decoder.operation("st." + count_prefix(form.count) + std::to_string(form.type.bits) + "." +
                        std::to_string(bits));
  const bool is_float = form.type.kind == ptx::TypeKind::kFloat;
  const Scalar scalar = is_float && bits == 32   ? Scalar::kF32
                        : is_float && bits == 64 ? Scalar::kF64
                                                 : scalar_of_bits(bits);
  std::array<Value, kMaxOperands> values{};
  std::int64_t immediate;
  bool wide;
  values[0] = decoder.address(instruction.operands.at(0), form.window, immediate, wide);
  for (int i = 0; i < form.count; ++i) values[i + 1] = decoder.read(element(from, i), scalar);
  DraftOp& op = decoder.emit(operation, std::span(values.data(), std::size_t(form.count) + 1));
  set_address(op, form, immediate, wide);
}

// These instructions have no effect here: a warp runs its accesses one after the other, and all
// threads see each access at once.
void do_nothing(const Op*, const Op*, Lanes&) {}
void decode_nothing(Decoder& decoder, const ptx::Instruction&) {
  decoder.emit_run(do_nothing, {}, 0);
}

// A fence has no effect here either, but observers must see it.
void tell_of_fence(const Op* first, const Op* last, Lanes& lanes) {
  if (!lanes.observer) return;
  for (; first != last; ++first) {
    lanes.observer->fence(lanes.warp->actor(*first, lanes.mask), FenceKind(first->immediate),
                          MemoryScope(first->flags >> kScopeShift & kScopeMask));
  }
}

FenceKind fence_kind(Decoder& decoder, const ptx::Instruction& instruction) {
  if (has_modifier(instruction, "mbarrier_init")) return FenceKind::kMbarrierInit;
  if (!has_modifier(instruction, "proxy")) return FenceKind::kThread;
  for (const std::string& modifier : instruction.modifiers) {
    if (modifier.starts_with("async::")) decoder.unsupported("one-way proxy fences are not known");
    if (modifier == "async") {
      if (has_modifier(instruction, "global")) return FenceKind::kProxyAsyncGlobal;
      const bool shared =
          has_modifier(instruction, "shared::cta") || has_modifier(instruction, "shared::cluster");
      return shared ? FenceKind::kProxyAsyncShared : FenceKind::kProxyAsync;
    }
    if (modifier.starts_with("tensormap")) return FenceKind::kProxyTensormap;
    if (modifier == "alias") return FenceKind::kThread;
  }
  decoder.unsupported();
}

void decode_fence(Decoder& decoder, const ptx::Instruction& instruction) {
  DraftOp& op = decoder.emit_run(tell_of_fence, {}, 0);
  op.op.immediate = static_cast<std::int64_t>(fence_kind(decoder, instruction));
  op.op.flags = ordering_flags(instruction, MemoryOrder::kWeak);
}

constexpr std::array kRules = {
    RuleEntry{"ld", decode_ld},
    RuleEntry{"ldu", decode_ld},
    RuleEntry{"st", decode_st},
    RuleEntry{"membar", decode_fence},
    RuleEntry{"fence", decode_fence},
    RuleEntry{"prefetch", decode_nothing},
    RuleEntry{"prefetchu", decode_nothing},
    RuleEntry{"discard", decode_nothing},
    RuleEntry{"applypriority", decode_nothing},
};

}  // namespace

std::span<const RuleEntry> memory_rules() { return kRules; }

}  // namespace tessera::vgpu
