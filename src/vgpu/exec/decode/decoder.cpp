// The outer part of decoding: variables, labels, blocks and guards. Operands are in
// decoder_values.cpp.
#include "vgpu/exec/decode/decoder.h"

#include <algorithm>

#include "vgpu/exec/decode/unwritten.h"
#include "vgpu/exec/decode/wgmma_watch.h"
#include "vgpu/exec/guard.h"

namespace tessera::vgpu {
namespace {

// WHY an atomic counts as a load: a failed attempt to take a lock changes nothing.
Touches touches_of(std::string_view opcode) {
  if (opcode == "st" || opcode == "cp" || opcode == "stmatrix" || opcode == "wgmma" ||
      opcode == "tensormap") {
    return Touches::kStores;
  }
  const bool loads = opcode == "ld" || opcode == "atom" || opcode == "red" || opcode == "ldu";
  return loads ? Touches::kLoads : Touches::kNothing;
}

}  // namespace

std::uint64_t align_up(std::uint64_t x, std::uint64_t to) { return (x + to - 1) / to * to; }

std::uint64_t alignment_of(const ptx::Variable& variable) {
  return std::max<std::uint64_t>({1, std::uint64_t(variable.align), variable.type.bits / 8u});
}

ParamLayout layout_params(const ptx::Function& function) {
  ParamLayout layout;
  const auto place = [&](const ptx::Variable& variable) {
    const std::uint64_t bytes = variable.count * variable.type.bits / 8;
    layout.bytes = static_cast<std::uint32_t>(align_up(layout.bytes, alignment_of(variable)));
    const ParamCopy copy{0, layout.bytes, static_cast<std::uint32_t>(bytes)};
    layout.offsets.emplace(variable.name, layout.bytes);
    layout.bytes += copy.bytes;
    return copy;
  };
  for (const auto& variable : function.returns) layout.returns.push_back(place(variable));
  if (!function.is_entry) {
    for (const auto& variable : function.params) layout.params.push_back(place(variable));
  }
  for (const auto& variable : function.variables) {
    if (variable.space == ptx::Space::kParam) place(variable);
  }
  layout.bytes = static_cast<std::uint32_t>(align_up(layout.bytes, 16));
  return layout;
}

Decoder::Decoder(const ptx::Function& function, KernelScope& scope, const OperationSet& operations)
    : function_(function),
      scope_(scope),
      operations_(operations),
      params_(layout_params(function)) {}

void Decoder::unsupported(const std::string& why) {
  FaultPlace place;
  place.ptx_line = instruction_ ? instruction_->line : function_.line;
  place.form = instruction_ ? instruction_->form() : "";
  place.kernel = scope_.kernel_name();
  throw Fault(FaultKind::kUnsupported, why, place);
}

// ---- the function -------------------------------------------------------------------------------

void Decoder::decode(Kernel& kernel, Function& to) {
  kernel_ = &kernel;
  to.name = function_.name;
  declare_variables();
  std::multimap<std::size_t, std::string> labels;
  for (const auto& label : function_.labels) labels.emplace(label.instruction, label.name);
  start_block();
  for (std::size_t i = 0; i <= function_.body.size(); ++i) {
    const auto [first, last] = labels.equal_range(i);
    if (first != last || ended_) start_block();
    for (auto label = first; label != last; ++label) {
      labels_[label->second] = static_cast<std::uint32_t>(draft_.blocks.size() - 1);
    }
    if (i < function_.body.size()) decode_instruction(function_.body[i]);
  }
  // A thread that runs past the last instruction returns.
  draft_.blocks.back().control.kind = ControlKind::kReturn;
  resolve_labels();
  watch_wgmma_registers(draft_, operations_);
  const Liveness liveness = find_liveness(draft_);
  note_unwritten_reads(liveness);
  assign_slots(draft_, liveness, to);
  for (auto& block : to.blocks) block.counter = kernel.block_count++;
  to.local_bytes = static_cast<std::uint32_t>(align_up(local_bytes_, 16));
  to.call_param_bytes = params_.bytes;
}

void Decoder::declare_variables() {
  const auto declare_register = [this](const ptx::Variable& variable) {
    const Scalar scalar = register_scalar(variable.type);
    if (scalar == Scalar::kNone) unsupported("registers of this type are not implemented");
    registers_.emplace(variable.name, static_cast<Value>(draft_.values.size()));
    draft_.values.push_back({scalar});
  };
  const auto declare = [&](const ptx::Variable& variable) {
    if (variable.space == ptx::Space::kRegister) declare_register(variable);
    if (variable.space == ptx::Space::kLocal) {
      local_bytes_ = align_up(local_bytes_, alignment_of(variable));
      locals_.emplace(variable.name, local_bytes_);
      local_bytes_ += variable.count * variable.type.bits / 8;
      if (local_bytes_ > kLocalLimit) {
        unsupported("a thread has at most 512 KB of local memory");
      }
    }
  };
  for (const auto* list : {&function_.params, &function_.returns}) {
    for (const auto& variable : *list) {
      if (variable.space == ptx::Space::kRegister) {
        unsupported("parameters of a function in registers are not implemented");
      }
    }
  }
  for (const auto& variable : function_.variables) declare(variable);
}

void Decoder::start_block() {
  ended_ = false;
  if (!draft_.blocks.empty() && draft_.blocks.back().ops.empty() &&
      draft_.blocks.back().control.kind == ControlKind::kFall &&
      draft_.blocks.back().first_instruction == kernel_->instructions.size()) {
    return;  // nothing in it yet
  }
  DraftBlock& block = draft_.blocks.emplace_back();
  const auto here = static_cast<std::uint32_t>(kernel_->instructions.size());
  block.first_instruction = block.last_instruction = here;
}

void Decoder::decode_instruction(const ptx::Instruction& instruction) {
  instruction_ = &instruction;
  const auto index = static_cast<std::uint32_t>(kernel_->instructions.size());
  InstructionInfo& info = kernel_->instructions.emplace_back();
  info.form = instruction.form();
  info.touches = touches_of(instruction.opcode);
  info.ptx_line = instruction.line;
  const ptx::SourceLine source = scope_.source_line(function_, instruction.source);
  info.source_file = source.file;
  info.source_line = source.line;
  info.callers = source.callers;
  const std::size_t first_op = draft_.blocks.back().ops.size();
  apply_rule(*this, instruction);
  DraftBlock& block = draft_.blocks.back();
  for (std::size_t i = first_op; i < block.ops.size(); ++i) block.ops[i].op.instruction = index;
  decode_guard(instruction, first_op);
  if (ended_) {
    block.end.op.instruction = index;
    block.control.has_instruction = true;
  } else {
    block.last_instruction = index + 1;
    kernel_->instructions.back().counted_with_block = instruction.guard.empty();
  }
  instruction_ = nullptr;
}

// A guarded instruction counts itself, and only once if it became several operations. Several
// operations all use the value that the guard had before the first of them.
void Decoder::decode_guard(const ptx::Instruction& instruction, std::size_t first_op) {
  if (instruction.guard.empty()) return;
  Value guard = value_of_register(instruction.guard);
  DraftBlock& block = draft_.blocks.back();
  if (ended_) {
    block.end.guard = guard;
    block.end.guard_negated = instruction.guard_negated;
  }
  const std::size_t count = block.ops.size() - first_op;
  if (count == 0) return;
  if (count + (ended_ ? 1 : 0) > 1) {
    const Value saved = temporary(Scalar::kPredicate);
    DraftOp copy = emit("mov.pred", {saved, guard});
    block.ops.pop_back();
    block.ops.insert(block.ops.begin() + static_cast<std::ptrdiff_t>(first_op), copy);
    if (ended_) block.end.guard = saved;
    guard = saved;
    ++first_op;
  }
  for (std::size_t i = first_op; i < block.ops.size(); ++i) {
    DraftOp& op = block.ops[i];
    op.guard = guard;
    op.guard_negated = instruction.guard_negated;
    op.op.guarded = op.op.run;
    op.op.run = i == first_op && !ended_ ? run_guarded_and_count : run_guarded;
  }
}

void Decoder::resolve_labels() {
  for (const LabelUse& use : label_uses_) {
    draft_.blocks[use.block].control.targets[use.target] = labels_.at(use.label);
  }
}

void Decoder::note_unwritten_reads(const Liveness& liveness) {
  std::vector<const std::string*> names(draft_.values.size());
  for (const auto& [name, value] : registers_) {
    if (!names[value]) names[value] = &name;
  }
  const auto note = [&](const UnwrittenValue& read, std::vector<UnwrittenRead>& to) {
    if (names[read.value]) to.push_back({read.instruction, *names[read.value]});
  };
  for (const UnwrittenValue& read : find_unwritten(draft_, liveness, kernel_->instructions)) {
    note(read, kernel_->unwritten_reads);
  }
  for (const UnwrittenValue& read : find_perhaps_unwritten(draft_, liveness)) {
    note(read, kernel_->perhaps_unwritten_reads);
  }
}

// ---- for rules ----------------------------------------------------------------------------------

const Operation& Decoder::operation(std::string_view name, Options options) {
  const Operation* found = operations_.find(name, options);
  if (!found) unsupported();
  if (options & kApprox) mark_approximate();
  return *found;
}

DraftOp& Decoder::emit(const Operation& operation, std::span<const Value> values) {
  if (values.size() != operation.signature.count) unsupported("wrong number of operands");
  return emit_run(operation.run, values, operation.signature.writes);
}

DraftOp& Decoder::emit(std::string_view name, std::initializer_list<Value> values) {
  return emit(operation(name), std::span(values.begin(), values.size()));
}

DraftOp& Decoder::emit_run(Run run, std::span<const Value> values, int writes) {
  DraftOp& op = draft_.blocks.back().ops.emplace_back();
  op.op.run = run;
  std::copy(values.begin(), values.end(), op.values.begin());
  op.count = static_cast<std::uint8_t>(values.size());
  op.writes = static_cast<std::uint8_t>(writes);
  return op;
}

Control& Decoder::control(ControlKind kind, std::span<const Value> values, int writes) {
  DraftBlock& block = draft_.blocks.back();
  std::copy(values.begin(), values.end(), block.end.values.begin());
  block.end.count = static_cast<std::uint8_t>(values.size());
  block.end.writes = static_cast<std::uint8_t>(writes);
  block.control.kind = kind;
  ended_ = true;
  return block.control;
}

DraftOp& Decoder::control_op() { return draft_.blocks.back().end; }

void Decoder::jump_to(Control& control, const std::string& label) {
  label_uses_.push_back({draft_.blocks.size() - 1, control.targets.size(), label});
  control.targets.push_back(0);
}

void Decoder::mark_approximate() { kernel_->instructions.back().approximate = true; }

}  // namespace tessera::vgpu
