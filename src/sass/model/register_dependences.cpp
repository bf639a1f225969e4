#include "sass/model/register_dependences.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sass/model/waits/in_order.h"

namespace tessera::sass {
namespace {

// A register access that is not yet finished.
struct Pending {
  enum class Kind { kFixedWrite, kVariableWrite, kVariableRead };
  Kind kind;
  RegisterFile file;
  int reg;
  std::size_t by;
  unsigned scoreboards;  // a wait for any of them ends the access

  auto operator<=>(const Pending&) const = default;
};

unsigned mask_of(int scoreboard) { return scoreboard < 0 ? 0 : 1u << scoreboard; }

constexpr int kScoreboards = 6, kMostCounted = 63;

// How long an access has been pending: when its instruction was issued and, for each scoreboard,
// how many later instructions set the scoreboard and cannot finish before that instruction.
struct Since {
  int issued = 0;  // counts from the start of the block at hand
  std::array<std::uint8_t, kScoreboards> later = {};
};
using State = std::map<Pending, Since>;

// Merges the states of two paths that meet at a block: the shorter distance counts, and the smaller
// number of later instructions. Returns whether anything changed.
bool merge(const State& from, State& into) {
  bool changed = false;
  for (const auto& [pending, since] : from) {
    const auto [place, is_new] = into.emplace(pending, since);
    Since& known = place->second;
    changed |= is_new || since.issued > known.issued;
    known.issued = std::max(known.issued, since.issued);
    for (int i = 0; i < kScoreboards; ++i) {
      changed |= since.later[i] < known.later[i];
      known.later[i] = std::min(known.later[i], since.later[i]);
    }
  }
  return changed;
}

bool writes_predicate(const Operation& operation, int predicate) {
  return std::ranges::any_of(operation.writes, [&](const RegisterUse& use) {
    return use.file == RegisterFile::kPredicate && use.first <= predicate &&
           predicate < use.first + use.count;
  });
}

// Whether a thread runs at most one of the two instructions, because they have the same guard,
// negated in one of them.
bool are_exclusive(const Program& program, std::size_t first, std::size_t second) {
  constexpr std::uint64_t kNegated = 8;
  const std::uint64_t guard = program.code[first].bits(12, 4);
  if (!program.is_guarded(first) || guard != (program.code[second].bits(12, 4) ^ kNegated)) {
    return false;
  }
  if (first >= second || program.block_of[first] != program.block_of[second]) return false;
  const int predicate = static_cast<int>(guard & ~kNegated);
  return std::none_of(
      program.operations.begin() + static_cast<std::ptrdiff_t>(first),
      program.operations.begin() + static_cast<std::ptrdiff_t>(second),
      [&](const Operation& between) { return writes_predicate(between, predicate); });
}

template <class Visit>
void for_each_register(const std::vector<RegisterUse>& uses, Visit visit) {
  for (const RegisterUse& use : uses) {
    for (int reg = use.first; reg < use.first + use.count; ++reg) visit(use.file, reg);
  }
}

// Follows the pending accesses through one block.
class Walk {
 public:
  Walk(const Program& program, State& state, const DependenceListener* listener)
      : program_(program), state_(state), listener_(listener) {}

  void step(std::size_t at) {
    at_ = at;
    const Operation& operation = program_.operations[at];
    apply_waits();
    for (const RegisterUse& use : operation.reads) {
      for (int reg = use.first; reg < use.first + use.count; ++reg) read(use, reg);
    }
    for (const RegisterUse& use : operation.writes) {
      for (int reg = use.first; reg < use.first + use.count; ++reg) write(use, reg);
    }
    if (operation.name == "BSYNC") settle_moved_barriers();
    if (waits_for_reads(operation)) settle_reads_of_memory();
    count_later(operation);
    adopt(operation);
    add_own(operation);
    now_ += cycles_of(operation.control);
  }

  // Makes issue times count from the end of the block.
  void finish() {
    for (auto entry = state_.begin(); entry != state_.end();) {
      entry->second.issued -= now_;
      const bool is_old = entry->first.kind == Pending::Kind::kFixedWrite &&
                          -entry->second.issued > kLongestLatency;
      entry = is_old ? state_.erase(entry) : std::next(entry);
    }
  }

 private:
  void apply_waits() {
    const unsigned mask = waited_scoreboards(program_, at_);
    const CountedWait counted = counted_wait(program_, at_);
    if (mask == 0 && counted.scoreboard < 0) return;
    std::erase_if(state_, [&](const auto& entry) {
      const bool settled = (entry.first.scoreboards & mask) != 0 || settles(counted, entry);
      if (settled && listener_) {
        listener_->wait(
            {entry.first.by, at_, entry.first.file, entry.first.reg, now_ - entry.second.issued});
      }
      return settled;
    });
  }

  // Whether a wait for all but the last `most` setters of a scoreboard also waits for this access:
  // at least `most` later instructions set the scoreboard and cannot finish before the access.
  static bool settles(const CountedWait& wait, const State::value_type& entry) {
    return waits_for(entry.first, wait.scoreboard) &&
           entry.second.later[wait.scoreboard] >= wait.most;
  }

  static bool waits_for(const Pending& pending, int scoreboard) {
    return scoreboard >= 0 && (pending.scoreboards >> scoreboard & 1) != 0;
  }
  static void count(Since& since, int scoreboard) {
    std::uint8_t& later = since.later[scoreboard];
    if (later < kMostCounted) ++later;
  }

  // Adds one to the counts of all earlier accesses that finish before the current instruction.
  void count_later(const Operation& operation) {
    const int written = operation.control.write_scoreboard;
    const int read = operation.control.read_scoreboard;
    if (written < 0 && read < 0) return;
    for (auto& [pending, since] : state_) {
      const Operation& earlier = program_.operations[pending.by];
      const bool of_reads = pending.kind == Pending::Kind::kVariableRead &&
                            earlier.control.write_scoreboard != read &&
                            read_in_order(earlier, operation);
      if (waits_for(pending, written) && write_in_order(earlier, operation)) count(since, written);
      if (waits_for(pending, read) && of_reads) count(since, read);
    }
  }

  // HW: ptxas lets BSYNC follow BMOV Bn, Rm without a wait, so BMOV has moved the barrier and read
  // Rm before BSYNC is issued.
  void settle_moved_barriers() {
    std::erase_if(state_, [&](const auto& entry) {
      return entry.first.kind == Pending::Kind::kVariableRead &&
             program_.operations[entry.first.by].name == "BMOV";
    });
  }

  // HW: right after a BAR.SYNC or a BAR.RED (of __syncthreads_or()), ptxas overwrites registers
  // that an STS or STL before it reads, without a scoreboard. So these barriers wait until memory
  // instructions have read their registers. Barriers with .DEFER_BLOCKING, which sm_80 and later
  // use for __syncthreads(), do not.
  bool waits_for_reads(const Operation& operation) const {
    const std::string& text = operation.text;
    const bool waits = text.starts_with("BAR.SYNC") || text.starts_with("BAR.RED");
    return waits && text.find(" 0x") != text.npos && text.find("DEFER_BLOCKING") == text.npos;
  }
  void settle_reads_of_memory() {
    std::erase_if(state_, [&](const auto& entry) {
      return entry.first.kind == Pending::Kind::kVariableRead &&
             is_memory(program_.operations[entry.first.by]);
    });
  }

  // An earlier operation of the same queue that sets no scoreboard finishes before this
  // instruction, so a wait for this instruction is also a wait for that operation.
  void adopt(const Operation& operation) {
    const unsigned written = mask_of(operation.control.write_scoreboard);
    const unsigned read = written | mask_of(operation.control.read_scoreboard);
    if (read == 0) return;
    State adopted;
    std::erase_if(state_, [&](const auto& entry) {
      const Operation& earlier = program_.operations[entry.first.by];
      unsigned by = 0;
      if (entry.first.kind == Pending::Kind::kVariableWrite &&
          earlier.control.write_scoreboard < 0 && write_in_order(earlier, operation)) {
        by = written;
      }
      if (entry.first.kind == Pending::Kind::kVariableRead && earlier.control.read_scoreboard < 0 &&
          read_in_order(earlier, operation)) {
        by = read;
      }
      if (by == 0) return false;
      Pending pending = entry.first;
      pending.scoreboards |= by;
      adopted.emplace(pending, entry.second);
      return true;
    });
    merge(adopted, state_);
  }

  auto pending(Pending::Kind kind, RegisterFile file, int reg) const {
    return std::pair{state_.lower_bound({kind, file, reg, 0, 0}),
                     state_.lower_bound({kind, file, reg + 1, 0, 0})};
  }

  // Whether the use is the instruction's guard, whose predicate is in bits 12-14. Uniform
  // predicates guard uniform code.
  bool is_guard(const RegisterUse& use, int reg) const {
    const bool is_predicate =
        use.file == RegisterFile::kPredicate || use.file == RegisterFile::kUniformPredicate;
    return is_predicate && program_.is_guarded(at_) &&
           static_cast<int>(program_.code[at_].bits(12, 3)) == reg;
  }

  // Whether the instruction's queue keeps it after an earlier instruction: both write the same
  // register, or the instruction writes a register that the earlier instruction reads.
  bool is_in_order(DependenceKind dependence, const Operation& earlier) const {
    const Operation& now = program_.operations[at_];
    if (dependence == DependenceKind::kWriteAfterRead) return read_in_order(earlier, now);
    return dependence == DependenceKind::kWriteAfterWrite && write_in_order(earlier, now);
  }

  void tell(DependenceKind dependence, Pending::Kind kind, const RegisterUse& use, int reg) const {
    if (!listener_) return;
    const bool is_open = kind != Pending::Kind::kFixedWrite;
    const auto [begin, end] = pending(kind, use.file, reg);
    for (auto entry = begin; entry != end; ++entry) {
      const int cycles = now_ - entry->second.issued;
      if (is_open ? is_in_order(dependence, program_.operations[entry->first.by])
                  : cycles > kLongestLatency) {
        continue;
      }
      if (are_exclusive(program_, entry->first.by, at_)) continue;
      listener_->dependence({dependence, entry->first.by, at_, use.file, reg, use.operand,
                             is_guard(use, reg), is_open, cycles});
    }
  }

  void read(const RegisterUse& use, int reg) {
    tell(DependenceKind::kReadAfterWrite, Pending::Kind::kFixedWrite, use, reg);
    tell(DependenceKind::kReadAfterWrite, Pending::Kind::kVariableWrite, use, reg);
  }

  void write(const RegisterUse& use, int reg) {
    tell(DependenceKind::kWriteAfterWrite, Pending::Kind::kFixedWrite, use, reg);
    tell(DependenceKind::kWriteAfterWrite, Pending::Kind::kVariableWrite, use, reg);
    tell(DependenceKind::kWriteAfterRead, Pending::Kind::kVariableRead, use, reg);
    if (program_.is_guarded(at_)) return;  // the old value may stay
    for (const auto kind : {Pending::Kind::kFixedWrite, Pending::Kind::kVariableWrite}) {
      const auto [begin, end] = pending(kind, use.file, reg);
      state_.erase(begin, end);
    }
  }

  void add_own(const Operation& operation) {
    // HW: warpgroup MMAs use their registers until a WARPGROUP.DEPBAR, which is not followed here.
    if (operation.name.ends_with("GMMA")) return;
    const bool variable = is_variable(operation, program_.sm);
    const auto kind = variable ? Pending::Kind::kVariableWrite : Pending::Kind::kFixedWrite;
    const unsigned written = mask_of(operation.control.write_scoreboard);
    const unsigned read = written | mask_of(operation.control.read_scoreboard);
    for_each_register(operation.writes, [&](RegisterFile file, int reg) {
      const unsigned settles =
          file == RegisterFile::kPredicate && writes_predicate_early(operation) ? read : written;
      state_[{kind, file, reg, at_, variable ? settles : 0}] = {now_, {}};
    });
    if (!variable) return;
    for_each_register(operation.reads, [&](RegisterFile file, int reg) {
      // Guards and uniform registers are read at issue, since ptxas never protects these reads by a
      // scoreboard.
      if (file != RegisterFile::kGeneral) return;
      state_[{Pending::Kind::kVariableRead, file, reg, at_, read}] = {now_, {}};
    });
  }

  const Program& program_;
  State& state_;
  const DependenceListener* listener_;
  std::size_t at_ = 0;
  int now_ = 0;
};

State after(const Program& program, const Block& block, State state,
            const DependenceListener* listener) {
  Walk walk(program, state, listener);
  for (std::size_t at = block.begin; at < block.end; ++at) walk.step(at);
  walk.finish();
  return state;
}

}  // namespace

bool is_variable(const Operation& operation, int sm) {
  // HW: FP64 instructions have a fixed latency on sm_90, where ptxas sets no scoreboard for them.
  // On sm_75 to sm_89 ptxas sets scoreboards, but not if a later instruction of the queue sets one.
  static const std::set<std::string, std::less<>> kDoubles = {"DFMA", "DMUL", "DADD", "DSETP"};
  // Loads of uniform constants have a fixed latency on every architecture.
  static const std::set<std::string, std::less<>> kConstants = {"ULDC", "ULDC.32", "ULDC.64"};
  if (operation.control.write_scoreboard >= 0 || operation.control.read_scoreboard >= 0)
    return true;
  if (kDoubles.contains(operation.name)) return sm < 90;
  return operation.timing == Timing::kVariable && !kConstants.contains(operation.name);
}

namespace {

// Whether a DEPBAR names a scoreboard and a count (.LE), in addition to its list of scoreboards.
bool counts(const Instruction& depbar) { return depbar.bits(47, 1) != 0; }

}  // namespace

unsigned waited_scoreboards(const Program& program, std::size_t at) {
  const Operation& operation = program.operations[at];
  unsigned mask = operation.control.wait_mask;
  if (operation.name == "DEPBAR") {
    // HW: DEPBAR.LE SBn, count, {...} has n in bits 44-46, the count in 38-43 and the list of
    // scoreboards in 32-37 (NAK). For counts above 0, see counted_wait().
    const Instruction& instruction = program.code[at];
    mask |= static_cast<unsigned>(instruction.bits(32, 6));
    if (counts(instruction) && instruction.bits(38, 6) == 0) mask |= 1u << instruction.bits(44, 3);
  }
  return mask;
}

CountedWait counted_wait(const Program& program, std::size_t at) {
  const Instruction& instruction = program.code[at];
  if (program.operations[at].name != "DEPBAR" || !counts(instruction)) return {};
  const auto most = static_cast<int>(instruction.bits(38, 6));
  const auto scoreboard = static_cast<int>(instruction.bits(44, 3));
  if (most == 0 || scoreboard >= kScoreboards) return {};
  return {scoreboard, most};
}

int cycles_of(const Control& control) { return std::max(1, control.stall); }

void visit_register_dependences(const Program& program, const DependenceListener& listener) {
  std::vector<State> at_entry(program.nodes.size());
  std::vector<bool> seen(program.nodes.size(), false);
  // WHY the first open node in code order is next: most paths lead forward, so all nodes before it
  // are then finished. In another order a row of branches would be walked many times.
  std::set<std::pair<std::size_t, std::size_t>> open = {{0, 0}};  // block, node
  seen[0] = true;
  while (!open.empty()) {
    const Node& node = program.nodes[open.extract(open.begin()).value().second];
    const State state =
        after(program, program.blocks[node.block],
              at_entry[static_cast<std::size_t>(&node - program.nodes.data())], nullptr);
    for (const std::size_t to : node.next) {
      if (merge(state, at_entry[to]) || !seen[to]) open.insert({program.nodes[to].block, to});
      seen[to] = true;
    }
  }
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    after(program, program.blocks[program.nodes[i].block], at_entry[i], &listener);
  }
}

}  // namespace tessera::sass
