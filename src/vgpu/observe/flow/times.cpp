#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "vgpu/exec/decode/form.h"
#include "vgpu/observe/flow/flow.h"
#include "vgpu/observe/flow/registers.h"
#include "vgpu/ptx/parser.h"
#include "vgpu/ptx/source_line.h"

namespace tessera::vgpu {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;
using Names = std::set<std::string>;

// Prefixes of the registers that tell when or where a thread runs.
constexpr std::array<std::string_view, 4> kTellers = {"%clock", "%globaltimer", "%smid", "%warpid"};

bool tells(const std::string& name) {
  return std::any_of(kTellers.begin(), kTellers.end(),
                     [&](std::string_view one) { return name.starts_with(one); });
}

const std::string* callee_of(const Instruction& one) {
  return one.opcode == "call" && one.operands.size() > 1 ? &one.operands[1].name : nullptr;
}

// Returns the functions whose results may be times: they read a clock, or call such a function.
Names functions_that_tell(const ptx::Module& module) {
  Names found;
  std::size_t before = 0;
  do {
    before = found.size();
    for (const ptx::Function& function : module.functions) {
      for (const Instruction& one : function.body) {
        const std::vector<std::string> reads = effects_of(one).reads;
        const std::string* callee = callee_of(one);
        if (std::any_of(reads.begin(), reads.end(), tells) ||
            (callee != nullptr && found.count(*callee) != 0)) {
          found.insert(function.name);
        }
      }
    }
  } while (before != found.size());
  return found;
}

bool only_loads(const Instruction& one) {
  return one.opcode == "ld" || one.opcode == "ldu" || one.opcode == "ldmatrix" ||
         (one.opcode == "wmma" && has_modifier(one, "load"));
}

// The name of the memory that `name` points to. All pointers in this memory point into it, too.
std::string pointee(const std::string& name) { return "*" + name; }

// Finds the registers and objects of a kernel that hold times, and the objects that they point
// into. The order of instructions is ignored. An object is a variable, or what a pointer argument
// points to.
class Times {
 public:
  Times(const ptx::Module& module, const ptx::Function& kernel)
      : kernel_(kernel), tellers_(functions_that_tell(module)) {
    for (const auto* all : {&kernel.params, &module.variables}) {
      for (const ptx::Variable& one : *all) {
        points_[one.name] = points_[pointee(one.name)] = {pointee(one.name)};
      }
    }
    do {
      changed_ = false;
      for (const Instruction& one : kernel_.body) step(one);
    } while (changed_);
  }

  // Returns the parameters and variables that point to the memory at this address.
  Names pointers_to(const Operand& address) const {
    Names names;
    for (const std::string& one : objects_of(address)) {
      if (one.starts_with('*')) names.insert(one.substr(1));
    }
    return names;
  }
  Names pointers() const {
    Names names;
    for (const std::string& one : times_) {
      if (one.starts_with('*')) names.insert(one.substr(1));
    }
    return names;
  }

 private:
  void insert(const Names& from, Names& to) {
    const std::size_t before = to.size();
    to.insert(from.begin(), from.end());
    changed_ |= to.size() != before;
  }
  bool is_time(const std::string& name) const { return tells(name) || times_.count(name) != 0; }

  Names objects_of(const Operand& address) const {
    if (!address.address_is_register) return {address.name};
    const auto known = points_.find(address.name);
    return known == points_.end() ? Names{} : known->second;
  }
  Names targets_of(const std::string& name) const {
    const auto known = points_.find(name);
    return known == points_.end() ? Names{} : known->second;
  }

  void step(const Instruction& one) {
    const Effects effects = effects_of(one);
    const std::string* callee = callee_of(one);
    bool holds_time = is_time(one.guard) || (callee != nullptr && tellers_.count(*callee) != 0);
    Names targets, written(effects.writes.begin(), effects.writes.end());
    for (const std::string& name : effects.reads) {
      holds_time |= is_time(name);
      if (!only_loads(one) && one.opcode != "atom") insert_all(targets_of(name), targets);
    }
    bool is_first = true;
    for (const Operand& operand : one.operands) {
      if (operand.kind == OperandKind::kSymbol) targets.insert(operand.name);
      if (operand.kind != OperandKind::kAddress) continue;
      const Names objects = objects_of(operand);
      const bool stores = is_first && !only_loads(one);
      is_first = false;
      if (stores) insert_all(objects, written);
      if (stores && one.opcode != "atom") continue;
      for (const std::string& object : objects) {
        holds_time |= is_time(object);
        insert_all(targets_of(object), targets);
      }
    }
    // The called function may store to all memory that its pointer arguments point to.
    if (callee != nullptr && holds_time) insert_all(targets, written);
    for (const std::string& name : written) {
      if (holds_time) insert({name}, times_);
      insert(targets, points_[name]);
    }
  }
  static void insert_all(const Names& from, Names& to) { to.insert(from.begin(), from.end()); }

  const ptx::Function& kernel_;
  Names tellers_, times_;
  std::map<std::string, Names> points_;
  bool changed_ = false;
};

const ptx::Function* kernel_of(const ptx::Module& module, const std::string& name) {
  for (const ptx::Function& function : module.functions) {
    if (function.name == name && function.has_body) return &function;
  }
  return nullptr;
}

bool is_read(const ptx::Function& function, const std::vector<std::string>& names) {
  return std::any_of(function.body.begin(), function.body.end(), [&](const Instruction& one) {
    const std::vector<std::string> reads = effects_of(one).reads;
    return std::any_of(reads.begin(), reads.end(), [&](const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    });
  });
}

FindingPlace place_of(const Instruction& one, const ptx::Function& function,
                      const ptx::Module& module) {
  const ptx::SourceLine source = ptx::source_line(module, function, one.source);
  FindingPlace place;
  place.what = "leaves what it stores, unless another one follows";
  place.form = one.form();
  place.ptx_line = one.line;
  place.source_file = source.file;
  place.source_line = source.line;
  place.callers = source.callers;
  return place;
}

// Whether the function reads a register that an atomic operation writes.
bool uses_atomics(const ptx::Function& function) {
  Names found;
  for (const Instruction& one : function.body) {
    if (one.opcode != "atom") continue;
    for (const std::string& name : effects_of(one).writes) found.insert(name);
  }
  return std::any_of(function.body.begin(), function.body.end(), [&](const Instruction& one) {
    const std::vector<std::string> reads = effects_of(one).reads;
    return std::any_of(reads.begin(), reads.end(),
                       [&](const std::string& name) { return found.count(name) != 0; });
  });
}

}  // namespace

Names pointers_to_times(const std::string& ptx, const std::string& kernel) {
  const auto is_there = [&](std::string_view one) { return ptx.find(one) != ptx.npos; };
  if (std::none_of(kTellers.begin(), kTellers.end(), is_there)) return {};
  const ptx::Module module = ptx::parse(ptx);
  const ptx::Function* function = kernel_of(module, kernel);
  return function ? Times(module, *function).pointers() : Names{};
}

std::vector<LastWrite> last_writes(const std::string& ptx, const std::string& kernel) {
  std::vector<LastWrite> all;
  const ptx::Module module = ptx::parse(ptx);
  const ptx::Function* function = kernel_of(module, kernel);
  if (!function) return all;
  const Times flow(module, *function);
  for (const Instruction& one : function->body) {
    if (one.opcode != "atom" || !has_modifier(one, "exch") || one.operands.size() < 3) continue;
    if (is_read(*function, effects_of(one).writes)) continue;
    for (const std::string& pointer : flow.pointers_to(one.operands[1])) {
      all.push_back({pointer, place_of(one, *function, module)});
    }
  }
  return all;
}

bool uses_results_of_atomics(const std::string& ptx, const std::string& kernel) {
  const ptx::Module module = ptx::parse(ptx);
  return std::any_of(
      module.functions.begin(), module.functions.end(), [&](const ptx::Function& function) {
        return (!function.is_entry || function.name == kernel) && uses_atomics(function);
      });
}

}  // namespace tessera::vgpu
