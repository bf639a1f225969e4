// Decodes one PTX function into a Draft. The decoder resolves names; a rule (one per family of
// opcodes) chooses the operations of an instruction.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "vgpu/exec/decode/draft.h"
#include "vgpu/exec/decode/form.h"
#include "vgpu/ptx/source_line.h"
#include "vgpu/report/fault.h"
#include "vgpu/report/windows.h"

namespace tessera::vgpu {

std::uint64_t align_up(std::uint64_t x, std::uint64_t to);
std::uint64_t alignment_of(const ptx::Variable& variable);

// The places of values that calls pass: offsets in the parameter memory of a function's frame.
struct ParamLayout {
  std::vector<ParamCopy> returns, params;  // callee and bytes set
  std::unordered_map<std::string, std::uint32_t> offsets;
  std::uint32_t bytes = 0;
};
// An entry's own parameters are in the kernel's parameter memory and not in the layout.
ParamLayout layout_params(const ptx::Function& function);

// The state that the functions of one kernel share while they are decoded.
class KernelScope {
 public:
  virtual ~KernelScope() = default;
  virtual const std::string& kernel_name() const = 0;
  virtual ptx::SourceLine source_line(const ptx::Function& function,
                                      const ptx::SourceLocation& location) const = 0;
  // Address of a variable of the module, or of a shared variable of any function; false if unknown.
  virtual bool find_variable(const ptx::Function& from, const std::string& name, Window& window,
                             std::uint64_t& address) = 0;
  // Index of a function in the kernel, which will then be decoded too; false if unknown.
  virtual bool find_function(const std::string& name, std::uint32_t& index) = 0;
  // The value of a pointer to the function, in all kernels of the module; 0 if unknown.
  virtual std::uint64_t function_address(const std::string& name) = 0;
  virtual const ptx::Function& function_at(std::uint32_t index) = 0;
  // The functions with bodies that have this many returns and parameters.
  virtual std::vector<std::string> functions_like(std::size_t returns, std::size_t params) = 0;
};

class Decoder {
 public:
  Decoder(const ptx::Function& function, KernelScope& scope, const OperationSet& operations);

  // Appends the function's instructions to the kernel's.
  void decode(Kernel& kernel, Function& to);

  // ---- for rules ------------------------------------------------------------------------------
  [[noreturn]] void unsupported(const std::string& why = "this instruction is not implemented");
  const ptx::Function& function() const { return function_; }
  KernelScope& scope() { return scope_; }
  const ParamLayout& params() const { return params_; }

  // A source operand: register, special register, literal or address of a symbol.
  Value read(const ptx::Operand& operand, Scalar scalar);
  Value write(const ptx::Operand& operand, Scalar scalar);
  // The operand in [ ]: the value of the base; the offset goes to `immediate`.
  Value address(const ptx::Operand& operand, Window window, std::int64_t& immediate, bool& wide);
  Value constant(Scalar scalar, std::uint64_t bits);
  // The same with the rank of the CTA as an address of shared memory holds it.
  Value shared_address(Scalar scalar, std::uint64_t bits);
  Value temporary(Scalar scalar);
  // The predicate that .cc writes and addc, subc and madc read; one a function.
  Value condition_code();
  // The register's declared width; kNone when the operand is not a register.
  Scalar declared(const ptx::Operand& operand) const;

  const Operation& operation(std::string_view name, Options options = kDefault);
  DraftOp& emit(const Operation& operation, std::span<const Value> values);
  DraftOp& emit(std::string_view name, std::initializer_list<Value> values);
  // An operation that is not in the tables.
  DraftOp& emit_run(Run run, std::span<const Value> values, int writes);
  // The instruction is control: it ends the block. Operands go to Control::op in this order.
  Control& control(ControlKind kind, std::span<const Value> values, int writes = 0);
  void jump_to(Control& control, const std::string& label);

  DraftOp& control_op();
  Kernel& kernel() { return *kernel_; }

  void mark_approximate();

 private:
  struct LabelUse {
    std::size_t block, target;
    std::string label;
  };

  void declare_variables();
  void decode_instruction(const ptx::Instruction& instruction);
  void decode_guard(const ptx::Instruction& instruction, std::size_t first_op);
  void start_block();
  void resolve_labels();
  void note_unwritten_reads(const Liveness& liveness);
  void count_with_blocks();
  Value value_of_register(const std::string& name);
  Value special(const std::string& name, Scalar scalar);
  Window window_of(const std::string& name);
  Value symbol(const std::string& name, std::int64_t offset, Scalar scalar);
  Value prefilled(Prefill prefill, Scalar scalar);

  const ptx::Function& function_;
  KernelScope& scope_;
  const OperationSet& operations_;
  ParamLayout params_;
  Kernel* kernel_ = nullptr;
  const ptx::Instruction* instruction_ = nullptr;
  bool ended_ = false;  // the current instruction ended its block
  Draft draft_;
  std::unordered_map<std::string, Value> registers_;
  std::unordered_map<std::string, std::uint64_t> locals_;  // offsets in local memory
  std::uint64_t local_bytes_ = 0;
  Value condition_code_ = kNoValue;
  std::map<std::pair<int, std::uint64_t>, Value> constants_;  // by width and bits
  std::map<std::pair<int, std::uint64_t>, Value> shared_addresses_;
  std::map<std::pair<std::string, int>, Value> specials_;  // by name and width
  std::unordered_map<std::string, std::uint32_t> labels_;  // block
  std::vector<LabelUse> label_uses_;
};

// Throws Fault kUnsupported if there is no rule and no operation for the instruction.
void apply_rule(Decoder& decoder, const ptx::Instruction& instruction);

using Rule = void (*)(Decoder&, const ptx::Instruction&);
struct RuleEntry {
  std::string_view opcode;
  Rule rule;
};
// One list a family; see rules.cpp.
std::span<const RuleEntry> data_rules();
std::span<const RuleEntry> memory_rules();
std::span<const RuleEntry> control_rules();
std::span<const RuleEntry> collective_rules();
std::span<const RuleEntry> atomic_rules();
std::span<const RuleEntry> matrix_rules();
std::span<const RuleEntry> carry_rules();
std::span<const RuleEntry> cluster_rules();
std::span<const RuleEntry> async_rules();
std::span<const RuleEntry> map_rules();
std::span<const RuleEntry> texture_rules();
std::span<const RuleEntry> convert_rules();

// A call of a function that the driver brings: vprintf, __assertfail, malloc, free. False for any
// other name.
bool decode_system_call(Decoder& decoder, const ptx::Instruction& instruction,
                        std::string_view callee);

// The rule of every opcode without a rule of its own: it follows the operation tables.
void default_rule(Decoder& decoder, const ptx::Instruction& instruction);

}  // namespace tessera::vgpu
