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

// Instructions that compute, without a carry.
const std::set<std::string> kArithmetic = {
    "mov", "cvt",  "add",  "sub", "mul", "mad", "fma", "min",  "max", "neg",  "abs",
    "and", "or",   "xor",  "not", "shl", "shr", "shf", "lop3", "sad", "prmt", "bfe",
    "bfi", "selp", "setp", "set", "div", "rem", "rcp", "sqrt", "ex2", "lg2",  "rsqrt"};

enum class Kind { kCopy, kMade };  // the bits that were read, or a value computed from them
using Address = std::pair<std::string, std::int64_t>;

template <class Set>
void keep_common(Set& of, const Set& other) {
  std::erase_if(of, [&](const auto& one) { return other.count(one) == 0; });
}

// What is true on some paths to an instruction, and what is true on all paths.
struct State {
  std::map<std::string, Kind> values;  // on some
  std::set<std::string> successes;     // on some: predicates, whether the compare-and-swap swapped
  std::set<Address> addresses;         // on all: of the word that was read
  std::set<std::string> swapped;       // on all: what the compare-and-swap found
  bool operator==(const State&) const = default;

  void join(const State& other) {
    for (const auto& [name, kind] : other.values) mark(name, kind);
    successes.insert(other.successes.begin(), other.successes.end());
    keep_common(addresses, other.addresses);
    keep_common(swapped, other.swapped);
  }
  void mark(const std::string& name, Kind kind) {
    Kind& now = values.try_emplace(name, kind).first->second;
    now = std::max(now, kind);
  }
  // Called when the register is written. With a guard, the register may keep its old value.
  void forget(const std::string& name, bool is_guarded) {
    if (!is_guarded) values.erase(name);
    if (!is_guarded) successes.erase(name);
    swapped.erase(name);
    std::erase_if(addresses, [&](const Address& one) { return one.first == name; });
  }
  // The word is read again, so the value that was read before is outdated.
  void age() {
    for (auto& [name, kind] : values) kind = Kind::kMade;
    swapped.clear();
  }
};

// WHY a data flow: in a loop, a copy of the value may be used above the read in the text.
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

  // Whether the test compares the result of the compare-and-swap with its expected value.
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

  // Whether a branch skips only the compare-and-swap and the computation of its operands.
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

  // Returns the code that is repeated or skipped, depending on whether the swap succeeded. It may
  // only contain the read, the swap and the computation of its operands.
  std::optional<std::pair<std::size_t, std::size_t>> attempts(std::size_t branch,
                                                              std::size_t target) const {
    std::size_t begin = std::min(branch + 1, target);
    const std::size_t end = std::max(branch, target);
    for (std::size_t i = branch + 1; i < end; ++i) {
      if (body_[i].opcode != "bra") continue;
      const auto back = target_of(body_[i]);
      if (!back || *back > end) return std::nullopt;
      begin = std::min(begin, *back);
    }
    for (std::size_t i = begin; i < end; ++i) {
      const Instruction& one = body_[i];
      const bool is_cas = one.opcode == "atom" && has_modifier(one, "cas");
      const bool waits = one.opcode == "bra" || one.opcode == "ld" || one.opcode == "nanosleep";
      if (!is_cas && !waits && kArithmetic.count(one.opcode) == 0) return std::nullopt;
    }
    return std::pair{begin, end};
  }

  // Returns registers that may count attempts: those that one attempt passes to the next, and those
  // computed from them.
  std::set<std::string> counted_in(std::size_t begin, std::size_t end) const {
    std::set<std::string> fresh, read, counted;
    for (std::size_t i = begin; i < end; ++i) {
      const Effects effects = effects_of(body_[i]);
      for (const std::string& name : effects.reads) {
        if (fresh.count(name) == 0) read.insert(name);
      }
      if (body_[i].guard.empty()) fresh.insert(effects.writes.begin(), effects.writes.end());
    }
    std::size_t before = 0;
    do {
      before = counted.size();
      for (std::size_t i = begin; i < end; ++i) {
        const Effects effects = effects_of(body_[i]);
        const bool depends =
            std::any_of(effects.reads.begin(), effects.reads.end(),
                        [&](const std::string& name) { return counted.count(name) != 0; });
        for (const std::string& name : effects.writes) {
          if (depends || read.count(name) != 0) counted.insert(name);
        }
      }
    } while (before != counted.size());
    return counted;
  }

  // Follows both ways of a branch that tests whether the swap succeeded. Returns false if the
  // branch has another purpose.
  bool ends_attempts(std::size_t at, std::size_t target, const State& state) {
    const auto range = attempts(at, target);
    if (!range) return false;
    State after = state;
    std::set<std::string> depends = counted_in(range->first, range->second);
    for (std::size_t i = at + 1; i < target; ++i) {
      for (const std::string& name : effects_of(body_[i]).writes) depends.insert(name);
    }
    for (const std::string& name : depends) {
      if (state.swapped.count(name) == 0) after.mark(name, Kind::kMade);
    }
    reach(target, target > at ? after : state);
    reach(at + 1, target > at ? state : after);
    return true;
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
    if (state.successes.count(body_[at].guard) != 0) {
      return !is_guess && ends_attempts(at, *target, state);
    }
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

  // Follows copies of the address, and of the result of the compare-and-swap, to other registers.
  static void follow(const Instruction& one, const State& before, State& after) {
    if ((one.opcode != "mov" && one.opcode != "cvta") || one.operands.size() != 2) return;
    const ptx::Operand &to = one.operands[0], &from = one.operands[1];
    if (from.kind != OperandKind::kRegister && from.kind != OperandKind::kSymbol) return;
    for (const auto& [name, offset] : before.addresses) {
      if (name == from.name) after.addresses.insert({to.name, offset - from.integer});
    }
    if (before.swapped.count(from.name) != 0) after.swapped.insert(to.name);
  }

  // Follows one instruction. Returns false if it uses the value for anything else.
  bool flow(std::size_t at, const State& before) {
    const Instruction& one = body_[at];
    const Effects effects = effects_of(one);
    const auto is_value = [&](const std::string& name) { return before.values.count(name) != 0; };
    const auto is_success = [&](const std::string& name) {
      return before.successes.count(name) != 0;
    };
    const bool guarded_by_it = is_value(one.guard);
    const bool guarded = guarded_by_it || is_success(one.guard);
    const bool reads_it = std::any_of(effects.reads.begin(), effects.reads.end(), is_value) ||
                          std::any_of(effects.reads.begin(), effects.reads.end(), is_success);
    if (one.opcode == "brx") return false;
    if (one.opcode == "bra") return branch(at, before, guarded_by_it);
    const bool swaps = is_swap(one, before);
    const bool computes = kArithmetic.count(one.opcode) != 0 && !has_modifier(one, "cc");
    if ((reads_it || guarded) && !swaps && !computes) return false;
    is_tested_ |= swaps;
    State after = before;
    for (const std::string& name : effects.writes) {
      after.forget(name, !one.guard.empty());
      const bool copies = one.opcode == "mov" && one.operands[0].kind == OperandKind::kRegister &&
                          is_value(one.operands[1].name) && !guarded;
      if (guarded) {
        after.mark(name, Kind::kMade);
      } else if (swaps) {
        if (one.guard.empty()) after.swapped.insert(name);
      } else if (asks_for_success(one, before)) {
        after.successes.insert(name);
      } else if (reads_it) {
        after.mark(name, copies ? before.values.at(one.operands[1].name) : Kind::kMade);
      }
    }
    if (one.guard.empty()) follow(one, before, after);
    if (at == read_) {
      after.age();
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
