#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "vgpu/exec/decode/form.h"
#include "vgpu/observe/flow/flow.h"
#include "vgpu/observe/flow/registers.h"
#include "vgpu/ptx/parser.h"

namespace tessera::vgpu {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

template <std::size_t count>
bool is_one_of(std::string_view word, const std::array<std::string_view, count>& all) {
  return std::find(all.begin(), all.end(), word) != all.end();
}

// Operations whose results belong to a whole warp or CTA.
constexpr std::array<std::string_view, 10> kCollective = {
    "shfl", "vote", "redux", "match", "activemask", "mma", "wmma", "wgmma", "bar", "barrier"};
// Operations whose results have the bits of a source, or a selection of them.
constexpr std::array<std::string_view, 6> kCopies = {"mov", "cvt", "selp", "slct", "prmt", "abs"};
// Operations that change nothing if they are repeated with the same operand.
constexpr std::array<std::string_view, 5> kIdempotent = {"min", "max", "and", "or", "bfi"};
constexpr std::array<std::string_view, 19> kChanges = {
    "add", "addc", "sub", "subc", "mul", "mad", "madc", "fma", "xor", "not",
    "neg", "shl",  "shr", "shf",  "div", "rem", "sad",  "bfe", "brev"};

bool is_common_memory(const Instruction& one) {
  for (const char* space : {"param", "const", "local", "nc"}) {
    if (has_modifier(one, space)) return false;
  }
  return true;
}

// The path of a value to a store. `operation` is the only operation that changes the value, or
// "other" if there are several.
struct Way {
  bool accumulates = false;
  std::string operation;
  auto operator<=>(const Way&) const = default;

  void pass(const std::string& name, bool changes) {
    accumulates |= changes;
    operation = operation.empty() || operation == name ? name : "other";
  }
};

// Whether a lop3 is idempotent in this operand: f(f(value, others), others) is f(value, others).
// The table holds f of the bits 0xf0, 0xcc and 0xaa.
bool is_idempotent(std::uint64_t table, std::size_t operand) {
  const int own = 4 >> operand;  // added to the index of the truth table
  for (int index = 0; index < 8; ++index) {
    if ((index & own) != 0) continue;
    const bool of_zero = (table >> index & 1) != 0, of_one = (table >> (index | own) & 1) != 0;
    if (of_zero && !of_one) return false;
  }
  return true;
}

// Extends the path by this instruction and its operand `source`; nullopt if no value passes it.
std::optional<Way> through(const Instruction& one, std::size_t source, Way way) {
  const std::string& name = one.opcode;
  if (is_one_of(name, kCopies)) {
    if (source == 3) return std::nullopt;  // it only selects
    return way;
  }
  if (is_one_of(name, kIdempotent)) {
    const bool moves = name == "bfi" && source == 1;
    way.pass(name, moves);
    return way;
  }
  if (name == "lop3") {
    const std::uint64_t table = static_cast<std::uint64_t>(one.operands.back().integer);
    way.pass("other", !is_idempotent(table, source - 1));
    return way;
  }
  if (!is_one_of(name, kChanges)) return std::nullopt;
  const bool adds = name == "add" || (name == "sub" && source == 1) ||
                    ((name == "mad" || name == "fma") && source == 3);
  way.pass(adds ? "add" : name, true);
  return way;
}

std::string atomic_for(const std::string& operation) {
  if (operation == "add") return "atomicAdd()";
  if (operation == "min") return "atomicMin()";
  if (operation == "max") return "atomicMax()";
  if (operation == "and") return "atomicAnd()";
  if (operation == "or") return "atomicOr()";
  if (operation == "xor") return "atomicXor()";
  return "a loop with atomicCAS()";
}

// Finds the updates of one function. The order of its instructions is ignored.
class UpdatesOfFunction {
 public:
  explicit UpdatesOfFunction(const ptx::Function& function) : body_(function.body) {
    for (std::size_t i = 0; i < body_.size(); ++i) {
      for (const std::string& name : effects_of(body_[i]).writes) writers_[name].push_back(i);
    }
    if (!function.is_entry) {
      for (const ptx::Variable& one : function.params) own_.insert(one.name);
    }
    find_what_lanes_have_alone();
  }

  void add_to(std::vector<Update>& updates) const {
    for (const Instruction& one : body_) {
      const bool stores = one.opcode == "st" && one.operands.size() == 2 && is_common_memory(one);
      if (stores) add_those_of(one, updates);
    }
  }

 private:
  // Finds the registers whose values may differ between the threads of a block.
  void find_what_lanes_have_alone() {
    const auto is_own = [&](const std::string& name) {
      for (const char* one : {"%tid", "%laneid", "%lanemask", "%clock", "%globaltimer"}) {
        if (name.starts_with(one)) return true;
      }
      return own_.count(name) != 0;
    };
    for (std::size_t before = own_.size() + 1; before != own_.size();) {
      before = own_.size();
      for (const Instruction& one : body_) {
        const Effects effects = effects_of(one);
        const bool finds = one.opcode == "atom" || one.opcode == "call" ||
                           (one.opcode == "ld" && is_common_memory(one)) ||
                           has_modifier(one, "local") || is_one_of(one.opcode, kCollective);
        const bool differs = finds || is_own(one.guard) ||
                             std::any_of(effects.reads.begin(), effects.reads.end(), is_own);
        if (differs) own_.insert(effects.writes.begin(), effects.writes.end());
      }
    }
  }

  // Returns the loads from which the stored value is computed, and the paths; none if the warp
  // computes it together.
  std::map<std::size_t, Way> sources_of(const Instruction& store) const {
    std::map<std::size_t, Way> sources;
    std::set<std::pair<std::string, Way>> seen;
    std::vector<std::pair<std::string, Way>> open;
    const auto visit = [&](const Operand& operand, const Way& way) {
      const auto add = [&](const Operand& one) {
        const bool has_name =
            one.kind == OperandKind::kRegister || one.kind == OperandKind::kSymbol;
        if (has_name && seen.insert({one.name, way}).second) open.push_back({one.name, way});
      };
      add(operand);
      for (const Operand& element : operand.elements) add(element);
    };
    visit(store.operands[1], {});
    while (!open.empty()) {
      const auto [name, way] = open.back();
      open.pop_back();
      const auto writers = writers_.find(name);
      if (writers == writers_.end()) continue;
      for (const std::size_t i : writers->second) {
        const Instruction& one = body_[i];
        if (is_one_of(one.opcode, kCollective)) return {};
        if (one.opcode == "ld" && is_common_memory(one)) {
          Way& known = sources.try_emplace(i, way).first->second;
          known = std::max(known, way);
        }
        for (std::size_t source = 1; source < one.operands.size(); ++source) {
          if (one.operands[source].kind == OperandKind::kAddress) continue;
          if (const auto on = through(one, source, way)) visit(one.operands[source], *on);
        }
      }
    }
    return sources;
  }

  void add_those_of(const Instruction& store, std::vector<Update>& updates) const {
    for (const auto& [load, way] : sources_of(store)) {
      const Instruction& one = body_[load];
      if (way.operation.empty()) continue;
      const bool is_other_memory = (has_modifier(one, "shared") && has_modifier(store, "global")) ||
                                   (has_modifier(one, "global") && has_modifier(store, "shared"));
      if (is_other_memory) continue;
      const Operand& address = store.operands[0];
      const bool is_common = !address.address_is_register || own_.count(address.name) == 0;
      updates.push_back(
          {one.line, store.line, way.accumulates, is_common, atomic_for(way.operation)});
    }
  }

  const std::vector<Instruction>& body_;
  std::map<std::string, std::vector<std::size_t>> writers_;
  std::set<std::string> own_;
};

}  // namespace

std::vector<Update> updates_in(const std::string& ptx) {
  std::vector<Update> updates;
  const ptx::Module module = ptx::parse(ptx);
  for (const ptx::Function& function : module.functions) {
    UpdatesOfFunction(function).add_to(updates);
  }
  return updates;
}

}  // namespace tessera::vgpu
