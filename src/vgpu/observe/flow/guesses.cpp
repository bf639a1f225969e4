#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "vgpu/exec/decode/form.h"
#include "vgpu/observe/flow/flow.h"
#include "vgpu/observe/flow/registers.h"
#include "vgpu/ptx/parser.h"

namespace tessera::vgpu {
namespace {

using ptx::Instruction;
using ptx::OperandKind;

// What computes and has no carry.
const std::set<std::string> kArithmetic = {
    "mov", "cvt",  "add",  "sub", "mul", "mad", "fma", "min",  "max", "neg",  "abs",
    "and", "or",   "xor",  "not", "shl", "shr", "shf", "lop3", "sad", "prmt", "bfe",
    "bfi", "selp", "setp", "set", "div", "rem", "rcp", "sqrt", "ex2", "lg2",  "rsqrt"};

enum class Kind { kCopy, kMade };  // the bits that were read, or what was made of them
using Address = std::pair<std::string, std::int64_t>;

struct State {
  std::map<std::string, Kind> values;
  std::set<Address> addresses;    // of the word that was read
  std::set<std::string> swapped;  // what the compare-and-swap found
  bool operator==(const State&) const = default;

  void join(const State& other) {
    for (const auto& [name, kind] : other.values) mark(name, kind);
    addresses.insert(other.addresses.begin(), other.addresses.end());
    swapped.insert(other.swapped.begin(), other.swapped.end());
  }
  void mark(const std::string& name, Kind kind) {
    Kind& now = values.try_emplace(name, kind).first->second;
    now = std::max(now, kind);
  }
  void forget(const std::string& name) {
    values.erase(name);
    swapped.erase(name);
    std::erase_if(addresses, [&](const Address& one) { return one.first == name; });
  }
};

// WHY in every order of the function: a copy may be used before the read in the text, in a loop.
class Guess {
 public:
  Guess(const ptx::Function& function, std::size_t read)
      : function_(function), body_(function.body), read_(read) {}

  bool holds() {
    const bool reads_one = body_[read_].opcode == "ld" && body_[read_].operands.size() == 2 &&
                           body_[read_].operands[0].kind == OperandKind::kRegister;
    if (!reads_one || !flow(read_, {})) return false;
    while (!waiting_.empty()) {
      const std::size_t at = *waiting_.begin();
      waiting_.erase(waiting_.begin());
      const State before = before_.at(at);
      if (!flow(at, before)) return false;
    }
    return is_tested_;
  }

 private:
  bool is_swap(const Instruction& one, const State& state) const {
    if (one.opcode != "atom" || !has_modifier(one, "cas") || one.operands.size() < 4) return false;
    const auto expected = state.values.find(one.operands[2].name);
    return state.addresses.count({one.operands[1].name, one.operands[1].integer}) != 0 &&
           state.values.count(one.operands[1].name) == 0 && expected != state.values.end() &&
           expected->second == Kind::kCopy;
  }

  // Whether the test is of what the compare-and-swap found against what it expected.
  static bool asks_for_success(const Instruction& one, const State& state) {
    if (one.opcode != "setp" || one.operands.size() != 3) return false;
    if (!has_modifier(one, "eq") && !has_modifier(one, "ne")) return false;
    const auto is_pair = [&](const ptx::Operand& found, const ptx::Operand& expected) {
      const auto value = state.values.find(expected.name);
      return state.swapped.count(found.name) != 0 && value != state.values.end() &&
             value->second == Kind::kCopy;
    };
    return is_pair(one.operands[1], one.operands[2]) || is_pair(one.operands[2], one.operands[1]);
  }

  std::optional<std::size_t> target_of(const Instruction& one) const {
    for (const ptx::Label& label : function_.labels) {
      if (!one.operands.empty() && label.name == one.operands[0].name) return label.instruction;
    }
    return std::nullopt;
  }

  // Whether all that a branch leaves out is the compare-and-swap and what computes for it.
  bool leaves_out_swap(std::size_t branch, std::size_t end) const {
    if (end <= branch) return false;
    std::size_t begin = branch + 1;
    bool swaps = false;
    for (std::size_t i = branch + 1; i < end; ++i) {
      if (body_[i].opcode != "bra") continue;
      const auto target = target_of(body_[i]);
      if (!target || *target > end || *target <= read_) return false;
      begin = std::min(begin, *target);
    }
    for (std::size_t i = begin; i < end; ++i) {
      const Instruction& one = body_[i];
      const bool is_cas = one.opcode == "atom" && has_modifier(one, "cas");
      swaps |= is_cas && i > branch;
      if (!is_cas && one.opcode != "bra" && kArithmetic.count(one.opcode) == 0) return false;
    }
    return swaps;
  }

  void reach(std::size_t at, const State& state) {
    if (at >= body_.size()) return;
    const auto [known, is_new] = before_.try_emplace(at, state);
    State all = known->second;
    all.join(state);
    if (!is_new && all == known->second) return;
    known->second = std::move(all);
    waiting_.insert(at);
  }

  bool branch(std::size_t at, const State& state, bool is_guess) {
    const auto target = target_of(body_[at]);
    if (!target) return false;
    State there = state;
    if (is_guess) {
      if (!leaves_out_swap(at, *target)) return false;
      for (std::size_t i = at + 1; i < *target; ++i) {
        for (const std::string& name : effects_of(body_[i]).writes) there.mark(name, Kind::kMade);
      }
    }
    reach(*target, there);
    if (!body_[at].guard.empty()) reach(at + 1, state);
    return true;
  }

  // Other names of the same address, and other registers that hold what was found.
  static void follow(const Instruction& one, const State& before, State& after) {
    if ((one.opcode != "mov" && one.opcode != "cvta") || one.operands.size() != 2) return;
    const ptx::Operand &to = one.operands[0], &from = one.operands[1];
    if (from.kind != OperandKind::kRegister && from.kind != OperandKind::kSymbol) return;
    for (const auto& [name, offset] : before.addresses) {
      if (name == from.name) after.addresses.insert({to.name, offset - from.integer});
    }
    if (before.swapped.count(from.name) != 0) after.swapped.insert(to.name);
  }

  // False where the value goes anywhere else.
  bool flow(std::size_t at, const State& before) {
    const Instruction& one = body_[at];
    const Effects effects = effects_of(one);
    const auto is_value = [&](const std::string& name) { return before.values.count(name) != 0; };
    const bool guarded_by_it = is_value(one.guard);
    const bool reads_it = std::any_of(effects.reads.begin(), effects.reads.end(), is_value);
    if (one.opcode == "brx") return false;
    if (one.opcode == "bra") return branch(at, before, guarded_by_it);
    const bool swaps = is_swap(one, before);
    const bool computes = kArithmetic.count(one.opcode) != 0 && !has_modifier(one, "cc");
    if ((reads_it || guarded_by_it) && !swaps && !computes) return false;
    is_tested_ |= swaps;
    State after = before;
    for (const std::string& name : effects.writes) {
      if (one.guard.empty()) after.forget(name);
      const bool copies = one.opcode == "mov" && one.operands[0].kind == OperandKind::kRegister &&
                          one.operands[1].kind == OperandKind::kRegister && !guarded_by_it;
      if (swaps) {
        after.swapped.insert(name);
      } else if ((reads_it || guarded_by_it) && !asks_for_success(one, before)) {
        after.mark(name, copies ? before.values.at(one.operands[1].name) : Kind::kMade);
      }
    }
    if (one.guard.empty()) follow(one, before, after);
    if (at == read_) {
      after.mark(one.operands[0].name, Kind::kCopy);
      after.addresses = {{one.operands[1].name, one.operands[1].integer}};
      if (one.operands[0].name == one.operands[1].name) after.addresses.clear();
    }
    if (one.opcode != "ret" && one.opcode != "exit") reach(at + 1, after);
    if ((one.opcode == "ret" || one.opcode == "exit") && !one.guard.empty()) reach(at + 1, after);
    return true;
  }

  const ptx::Function& function_;
  const std::vector<Instruction>& body_;
  std::size_t read_;
  std::map<std::size_t, State> before_;
  std::set<std::size_t> waiting_;
  bool is_tested_ = false;
};

}  // namespace

std::set<int> guesses_among(const std::string& ptx, const std::set<int>& lines) {
  std::set<int> guesses;
  if (lines.empty()) return guesses;
  const ptx::Module module = ptx::parse(ptx);
  for (const ptx::Function& function : module.functions) {
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      const int line = function.body[i].line;
      if (lines.count(line) != 0 && Guess(function, i).holds()) guesses.insert(line);
    }
  }
  return guesses;
}

}  // namespace tessera::vgpu
