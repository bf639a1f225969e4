// Rules of branches, calls, barriers and instructions that end threads.
#include <algorithm>
#include <array>

#include "vgpu/exec/decode/decoder.h"
#include "vgpu/report/observer.h"

namespace tessera::vgpu {
namespace {

void decode_bra(Decoder& decoder, const ptx::Instruction& instruction) {
  decoder.jump_to(decoder.control(ControlKind::kBranch, {}), instruction.operands.at(0).name);
}

const ptx::BranchTable& table_named(Decoder& decoder, const std::string& name) {
  for (const auto& table : decoder.function().tables) {
    if (table.name == name) return table;
  }
  decoder.unsupported("the table " + name + " is not known");
}

// Decodes brx.idx index, table.
void decode_brx(Decoder& decoder, const ptx::Instruction& instruction) {
  const auto& table = table_named(decoder, instruction.operands.at(1).name);
  const Value index = decoder.read(instruction.operands.at(0), Scalar::k32);
  Control& control = decoder.control(ControlKind::kBranchTable, std::array{index});
  for (const auto& label : table.labels) decoder.jump_to(control, label);
}

void match_params(Decoder& decoder, const ptx::Operand& given, std::vector<ParamCopy> formal,
                  std::vector<ParamCopy>& copies) {
  if (given.elements.size() != formal.size()) decoder.unsupported("wrong number of arguments");
  for (std::size_t i = 0; i < formal.size(); ++i) {
    const auto at = decoder.params().offsets.find(given.elements[i].name);
    if (at == decoder.params().offsets.end()) {
      decoder.unsupported("arguments of calls must be .param variables");
    }
    formal[i].caller = at->second;
    copies.push_back(formal[i]);
  }
}

CallSite call_site(Decoder& decoder, const ptx::Instruction& instruction,
                   const std::string& callee) {
  CallSite site;
  if (!decoder.scope().find_function(callee, site.function)) {
    const bool launches = callee.starts_with("__cudaCDP2");
    decoder.unsupported("there is no body of function " + callee +
                        (launches ? "; kernels that launch kernels are not implemented" : ""));
  }
  site.address = decoder.scope().function_address(callee);
  const ParamLayout layout = layout_params(decoder.scope().function_at(site.function));
  match_params(decoder, instruction.operands[0], layout.returns, site.returns);
  match_params(decoder, instruction.operands[2], layout.params, site.arguments);
  return site;
}

// Decodes call (ret), f, (args); or a call through a register, with a list of possible functions.
void decode_call(Decoder& decoder, const ptx::Instruction& instruction) {
  const ptx::Operand& callee = instruction.operands.at(1);
  if (callee.kind == ptx::OperandKind::kSymbol) {
    if (decode_system_call(decoder, instruction, callee.name)) return;
    CallSite site = call_site(decoder, instruction, callee.name);
    decoder.control(ControlKind::kCall, {}).calls.push_back(std::move(site));
    return;
  }
  if (instruction.operands.size() < 4) decoder.unsupported("this call names no prototype");
  std::vector<std::string> names = table_named(decoder, instruction.operands[3].name).labels;
  // A prototype names no function: every function with as many parameters and results is possible.
  if (names.empty()) {
    names = decoder.scope().functions_like(instruction.operands[0].elements.size(),
                                           instruction.operands[2].elements.size());
  }
  std::vector<CallSite> sites;
  for (const auto& name : names) sites.push_back(call_site(decoder, instruction, name));
  const Value pointer = decoder.read(callee, Scalar::k64);
  Control& control = decoder.control(ControlKind::kCall, std::array{pointer});
  control.indirect = true;
  control.calls = std::move(sites);
}

void decode_ret(Decoder& decoder, const ptx::Instruction&) {
  decoder.control(ControlKind::kReturn, {});
}
void decode_exit(Decoder& decoder, const ptx::Instruction&) {
  decoder.control(ControlKind::kExit, {});
}
void decode_trap(Decoder& decoder, const ptx::Instruction&) {
  decoder.control(ControlKind::kTrap, {});
}
void decode_nanosleep(Decoder& decoder, const ptx::Instruction&) {
  decoder.control(ControlKind::kYield, {});
}

BarrierKind barrier_kind(Decoder& decoder, const ptx::Instruction& instruction) {
  if (has_modifier(instruction, "arrive")) return BarrierKind::kArrive;
  if (!has_modifier(instruction, "red")) return BarrierKind::kSync;
  if (has_modifier(instruction, "popc")) return BarrierKind::kPopc;
  if (has_modifier(instruction, "and")) return BarrierKind::kAnd;
  if (has_modifier(instruction, "or")) return BarrierKind::kOr;
  decoder.unsupported();
}

// Decodes bar.warp.sync mask.
void decode_warp_barrier(Decoder& decoder, const ptx::Instruction& instruction) {
  const Value mask = decoder.read(instruction.operands.at(0), Scalar::k32);
  decoder.control(ControlKind::kCollective, std::array{mask}).member_mask_operand = 0;
}

// Decodes barrier.cluster.arrive[.release|.relaxed][.aligned] and .wait[.acquire][.aligned].
void decode_cluster_barrier(Decoder& decoder, const ptx::Instruction& instruction) {
  const bool arrives = has_modifier(instruction, "arrive");
  if (!arrives && !has_modifier(instruction, "wait")) decoder.unsupported();
  const MemoryOrder order = !arrives                               ? MemoryOrder::kAcquire
                            : has_modifier(instruction, "relaxed") ? MemoryOrder::kRelaxed
                                                                   : MemoryOrder::kRelease;
  Control& control =
      decoder.control(arrives ? ControlKind::kClusterArrive : ControlKind::kClusterWait, {});
  control.aligned = has_modifier(instruction, "aligned");
  decoder.control_op().op.immediate = static_cast<std::int64_t>(order);
}

// Decodes bar[.cta].sync a[, b]; bar.arrive a, b; bar.red.op d, a[, b], [!]p; and barrier.*, in
// which the lanes of a warp need not come together unless it is .aligned.
void decode_barrier(Decoder& decoder, const ptx::Instruction& instruction) {
  if (has_modifier(instruction, "warp")) return decode_warp_barrier(decoder, instruction);
  if (has_modifier(instruction, "cluster")) return decode_cluster_barrier(decoder, instruction);
  const BarrierKind kind = barrier_kind(decoder, instruction);
  const bool reduces = kind > BarrierKind::kArrive;
  std::vector<ptx::Operand> operands = instruction.operands;
  std::array<Value, 4> values{kNoValue, kNoValue, kNoValue, kNoValue};
  if (reduces) {
    const bool counts = kind == BarrierKind::kPopc;
    values[0] = decoder.write(operands.at(0), counts ? Scalar::k32 : Scalar::kPredicate);
    const ptx::Operand source = operands.back();
    values[1] = decoder.read(source, Scalar::kPredicate);
    if (source.negate) {
      const Value inverted = decoder.temporary(Scalar::kPredicate);
      decoder.emit("not.pred", {inverted, values[1]});
      values[1] = inverted;
    }
    operands.erase(operands.begin());
    operands.pop_back();
  }
  if (operands.empty() || operands.size() > 2) decoder.unsupported("wrong operand count");
  values[2] = decoder.read(operands[0], Scalar::k32);
  if (operands.size() == 2) values[3] = decoder.read(operands[1], Scalar::k32);
  if (kind == BarrierKind::kArrive && operands.size() != 2) {
    decoder.unsupported("an arrive needs the number of threads");
  }
  Control& control = decoder.control(ControlKind::kBarrier, values, reduces ? 1 : 0);
  control.barrier = kind;
  control.aligned = instruction.opcode == "bar" || has_modifier(instruction, "aligned");
  control.has_count = operands.size() == 2;
}

constexpr std::array kRules = {
    RuleEntry{"bra", decode_bra},     RuleEntry{"brx", decode_brx},
    RuleEntry{"call", decode_call},   RuleEntry{"ret", decode_ret},
    RuleEntry{"exit", decode_exit},   RuleEntry{"trap", decode_trap},
    RuleEntry{"brkpt", decode_trap},  RuleEntry{"nanosleep", decode_nanosleep},
    RuleEntry{"bar", decode_barrier}, RuleEntry{"barrier", decode_barrier},
};

}  // namespace

std::span<const RuleEntry> control_rules() { return kRules; }

}  // namespace tessera::vgpu
