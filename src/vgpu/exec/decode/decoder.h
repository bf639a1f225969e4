// Decodes one PTX function into a Draft. The decoder resolves names. A rule (there is one per
// family of opcodes) chooses the operations of an instruction.
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

// The parameters of calls, as offsets in the parameter memory of a function's frame.
struct ParamLayout {
  std::vector<ParamCopy> returns, params;  // callee and bytes set
  std::unordered_map<std::string, std::uint32_t> offsets;
  std::uint32_t bytes = 0;
};
// The parameters of an entry are in the kernel's parameter memory and are not in the layout.
ParamLayout layout_params(const ptx::Function& function);

// The state that is shared while the functions of one kernel are decoded.
class KernelScope {
 public:
  virtual ~KernelScope() = default;
  virtual const std::string& kernel_name() const = 0;
  virtual ptx::SourceLine source_line(const ptx::Function& function,
                                      const ptx::SourceLocation& location) const = 0;
  // Finds the address of a module variable, or of a function's variable in shared memory.
  virtual bool find_variable(const ptx::Function& from, const std::string& name, Window& window,
                             std::uint64_t& address) = 0;
  // Finds the index of a function in the kernel, and has it decoded. False if it is unknown.
  virtual bool find_function(const std::string& name, std::uint32_t& index) = 0;
  // Returns the value of a pointer to the function, the same in all kernels; 0 if it is unknown.
  virtual std::uint64_t function_address(const std::string& name) = 0;
  virtual const ptx::Function& function_at(std::uint32_t index) = 0;
  // Returns the functions that have a body and this many returns and parameters.
  virtual std::vector<std::string> functions_like(std::size_t returns, std::size_t params) = 0;
};

class Decoder {
 public:
  Decoder(const ptx::Function& function, KernelScope& scope, const OperationSet& operations);

  // Decodes the function into `to`, and appends its instructions to those of the kernel.
  void decode(Kernel& kernel, Function& to);

  // ---- for rules ------------------------------------------------------------------------------
  [[noreturn]] void unsupported(const std::string& why = "this instruction is not implemented");
  const ptx::Function& function() const { return function_; }
  KernelScope& scope() { return scope_; }
  const ParamLayout& params() const { return params_; }

  // Returns the value of a source: register, special register, literal or address of a symbol.
  Value read(const ptx::Operand& operand, Scalar scalar);
  Value write(const ptx::Operand& operand, Scalar scalar);
  // Returns the base of the address in [ ]. The offset is written to `immediate`.
  Value address(const ptx::Operand& operand, Window window, std::int64_t& immediate, bool& wide);
  Value constant(Scalar scalar, std::uint64_t bits);
  // Like constant(), but adds the bits of the CTA's rank, as in an address of shared memory.
  Value shared_address(Scalar scalar, std::uint64_t bits);
  Value temporary(Scalar scalar);
  // The predicate that .cc writes and addc, subc and madc read. Each function has one.
  Value condition_code();
  // Returns the declared width of a register; kNone if the operand is not a register.
  Scalar declared(const ptx::Operand& operand) const;

  const Operation& operation(std::string_view name, Options options = kDefault);
  DraftOp& emit(const Operation& operation, std::span<const Value> values);
  DraftOp& emit(std::string_view name, std::initializer_list<Value> values);
  // Emits an operation that is not in the tables.
  DraftOp& emit_run(Run run, std::span<const Value> values, int writes);
  // Makes the instruction the control that ends the block. `values` become operands of Control::op.
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

// Throws Fault kUnsupported if there is neither a rule nor an operation for the instruction.
void apply_rule(Decoder& decoder, const ptx::Instruction& instruction);

using Rule = void (*)(Decoder&, const ptx::Instruction&);
struct RuleEntry {
  std::string_view opcode;
  Rule rule;
};
// Each family of opcodes has a list of rules; rules.cpp joins the lists.
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

// Decodes a call of a function that the driver provides: vprintf, __assertfail, malloc or free.
// Returns false for other names.
bool decode_system_call(Decoder& decoder, const ptx::Instruction& instruction,
                        std::string_view callee);

// The rule of all opcodes without a rule of their own. It uses only the operation tables.
void default_rule(Decoder& decoder, const ptx::Instruction& instruction);

}  // namespace tessera::vgpu
