// An address that is computed from the start of one array and from numbers belongs to that array.
// If an access through it is outside the array, this is an error, whatever is there. Addresses that
// may come from several arrays are not checked.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "vgpu/exec/decode/form.h"
#include "vgpu/observe/flow/flow.h"
#include "vgpu/observe/flow/registers.h"
#include "vgpu/ptx/parser.h"

namespace tessera::vgpu {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

// What an address is computed from. All local arrays of a thread are in one variable, each at its
// own offset.
struct Base {
  enum class Kind : std::uint8_t { kNumber, kArray, kFrame, kUnknown } kind = Kind::kNumber;
  std::string variable;
  std::int64_t begin = 0;  // in the variable
  auto operator<=>(const Base&) const = default;
};

const Base kUnknown{Base::Kind::kUnknown, "", 0};

bool is_number(const Base& base) { return base.kind == Base::Kind::kNumber; }

std::uint64_t bytes_of(const ptx::Variable& variable) {
  return variable.count * variable.type.bits / 8;
}

class ArraysOfFunction {
 public:
  ArraysOfFunction(const ptx::Module& module, const ptx::Function& function)
      : body_(function.body) {
    for (const auto* variables : {&module.variables, &function.variables}) {
      for (const ptx::Variable& one : *variables) {
        if (one.space == ptx::Space::kShared && one.count != 0) shared_[one.name] = bytes_of(one);
        if (one.space == ptx::Space::kLocal) local_[one.name] = bytes_of(one);
      }
    }
    // A base only changes towards kUnknown, so the loop ends.
    for (bool changes = true; changes;) {
      changes = false;
      for (const Instruction& one : body_) changes |= pass(one);
    }
  }

  void add_to(std::vector<ArrayUse>& uses) const {
    for (const Instruction& one : body_) {
      for (const Operand& operand : one.operands) {
        if (operand.kind != OperandKind::kAddress || !touches(one)) continue;
        const Base base = of_name(operand.name, operand.address_is_register);
        if (base.kind == Base::Kind::kArray) uses.push_back(use_of(one, base));
      }
    }
  }

 private:
  static bool touches(const Instruction& one) {
    constexpr std::array<std::string_view, 6> kAll = {"ld",  "st",       "atom",
                                                      "red", "ldmatrix", "stmatrix"};
    return std::find(kAll.begin(), kAll.end(), one.opcode) != kAll.end() &&
           !has_modifier(one, "param");
  }

  ArrayUse use_of(const Instruction& one, const Base& base) const {
    ArrayUse use;
    use.line = one.line;
    use.variable = base.variable;
    const auto shared = shared_.find(base.variable);
    if (shared != shared_.end()) {
      use.end = shared->second;
      return use;
    }
    use.is_local = true;
    use.begin = static_cast<std::uint64_t>(base.begin);
    use.end = local_.at(base.variable);
    const auto next = begins_.upper_bound({base.variable, base.begin});
    if (next != begins_.end() && next->first == base.variable) {
      use.end = static_cast<std::uint64_t>(next->second);
    }
    return use;
  }

  Base of_name(const std::string& name, bool is_register) const {
    if (is_register) {
      const auto known = bases_.find(name);
      return known == bases_.end() ? Base{} : known->second;
    }
    if (shared_.contains(name)) return {Base::Kind::kArray, name, 0};
    if (local_.contains(name)) return {Base::Kind::kFrame, name, 0};
    return {};
  }
  Base of(const Operand& operand) const {
    const bool has_name =
        operand.kind == OperandKind::kRegister || operand.kind == OperandKind::kSymbol;
    return has_name ? of_name(operand.name, operand.kind == OperandKind::kRegister) : Base{};
  }

  Base sum(const Instruction& one, std::size_t a, std::size_t b) {
    const Base first = of(one.operands[a]), second = of(one.operands[b]);
    if (first.kind == Base::Kind::kFrame && one.operands[b].kind == OperandKind::kInteger) {
      const std::int64_t begin = one.operands[b].integer;
      begins_.insert({first.variable, begin});
      return {Base::Kind::kArray, first.variable, begin};
    }
    if (is_number(second)) return first.kind == Base::Kind::kFrame ? kUnknown : first;
    return is_number(first) && second.kind == Base::Kind::kArray ? second : kUnknown;
  }

  // Returns what the result of the instruction is computed from; a number if it is not an address.
  Base result_of(const Instruction& one) {
    const std::string& name = one.opcode;
    const std::size_t count = one.operands.size();
    if (count == 2 && (name == "mov" || name == "cvta" || name == "cvt")) {
      const Operand& from = one.operands[1];
      if (from.kind != OperandKind::kVector) return of(from);
    }
    if (count == 3 && name == "add") return sum(one, 1, 2);
    if (count == 3 && name == "sub") {
      const Base from = of(one.operands[1]);
      return is_number(of(one.operands[2])) && from.kind != Base::Kind::kFrame ? from : kUnknown;
    }
    if (count == 4 && name == "mad") {
      const bool are_numbers = is_number(of(one.operands[1])) && is_number(of(one.operands[2]));
      return are_numbers ? of(one.operands[3]) : kUnknown;
    }
    if (name == "ld" || name == "atom" || name == "call") return {};
    for (const std::string& read : effects_of(one).reads) {
      if (!is_number(of_name(read, bases_.contains(read)))) return kUnknown;
    }
    return {};
  }

  // Returns whether the base of any register has become less certain.
  bool pass(const Instruction& one) {
    const std::vector<std::string> writes = effects_of(one).writes;
    if (writes.empty()) return false;
    const Base made = result_of(one);
    bool changes = false;
    for (const std::string& name : writes) {
      const auto [at, is_new] = bases_.try_emplace(name, made);
      if (is_new) {
        changes = true;
      } else if (at->second != made && at->second.kind != Base::Kind::kUnknown) {
        at->second = kUnknown;
        changes = true;
      }
    }
    return changes;
  }

  const std::vector<Instruction>& body_;
  std::map<std::string, std::uint64_t> shared_, local_;  // bytes
  std::map<std::string, Base> bases_;                    // by register
  std::set<std::pair<std::string, std::int64_t>> begins_;
};

}  // namespace

std::vector<ArrayUse> array_uses_in(const std::string& ptx, const std::string& kernel) {
  std::vector<ArrayUse> uses;
  const ptx::Module module = ptx::parse(ptx);
  for (const ptx::Function& function : module.functions) {
    if (function.name == kernel) ArraysOfFunction(module, function).add_to(uses);
  }
  return uses;
}

}  // namespace tessera::vgpu
