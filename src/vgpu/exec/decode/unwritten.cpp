#include "vgpu/exec/decode/unwritten.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tessera::vgpu {
namespace {

struct Place {
  std::size_t block = 0, at = 0;  // at == number of ops: the control instruction
  const DraftOp* op = nullptr;
};

// Whether execution may continue with the next block.
bool goes_on(const DraftBlock& block) {
  switch (block.control.kind) {
    case ControlKind::kBranch:
    case ControlKind::kReturn:
    case ControlKind::kExit:
    case ControlKind::kTrap:
      return block.end.guard != kNoValue;
    case ControlKind::kBranchTable:
      return false;
    default:
      return true;
  }
}

class Search {
 public:
  Search(const Draft& draft, const std::vector<InstructionInfo>& instructions)
      : draft_(draft),
        instructions_(instructions),
        reads_(draft.values.size()),
        writes_(draft.values.size()) {
    for (std::size_t b = 0; b < draft.blocks.size(); ++b) {
      const DraftBlock& block = draft.blocks[b];
      for (std::size_t i = 0; i < block.ops.size(); ++i) note({b, i, &block.ops[i]});
      note({b, block.ops.size(), &block.end});
    }
  }

  std::vector<UnwrittenValue> run(const Liveness& liveness) {
    std::vector<Value> open = liveness.live_at_entry;
    std::set<Value> known(open.begin(), open.end());
    while (!open.empty()) {
      const Value value = open.back();
      open.pop_back();
      for (const Place& read : reads_[value]) {
        if (may_be_written(value, read)) continue;
        const Value copy = copied_to(read);
        if (copy == kNoValue) {
          add(read, value);
        } else {
          empty_copies_.insert(read.op);
          if (known.insert(copy).second) open.push_back(copy);
        }
      }
    }
    return std::move(found_);
  }

 private:
  void note(const Place& place) {
    const DraftOp& op = *place.op;
    const auto list = [&](std::vector<std::vector<Place>>& to, Value value) {
      if (value != kNoValue) to[value].push_back(place);
    };
    for (int i = 0; i < op.count; ++i) list(i < op.writes ? writes_ : reads_, op.values[i]);
    for (std::size_t i = 0; i < op.list.size(); ++i) {
      list(i < op.list_writes ? writes_ : reads_, op.list[i]);
    }
    list(reads_, op.guard);
  }

  bool is(const Place& place, const char* opcode) const {
    const std::uint32_t instruction = place.op->op.instruction;
    return instruction < instructions_.size() &&
           instructions_[instruction].form.starts_with(opcode);
  }

  // Returns the destination if the instruction only copies one source; else kNoValue.
  Value copied_to(const Place& place) const {
    const DraftOp& op = *place.op;
    const bool copies = is(place, "mov.") && op.writes == 1 && op.count == 2;
    return copies && op.guard == kNoValue ? op.values[0] : kNoValue;
  }

  void add(const Place& read, Value value) {
    // WHY: a predicate decides at run time whether a wgmma reads its accumulators.
    if (is(read, "wgmma")) return;
    const std::uint32_t instruction = read.op->op.instruction;
    const bool is_known = std::any_of(found_.begin(), found_.end(), [&](const auto& one) {
      return one.instruction == instruction && one.value == value;
    });
    if (!is_known) found_.push_back({instruction, value});
  }

  // Whether a path from the entry to the first execution of `read` may contain a write.
  bool may_be_written(Value value, const Place& read) {
    const std::vector<bool>& before = reachable(0, read);
    if (!before[read.block]) return true;  // it never runs
    for (const Place& write : writes_[value]) {
      if (empty_copies_.contains(write.op)) continue;
      if (write.block == read.block && write.at >= read.at) continue;
      if (!before[write.block]) continue;
      if (write.block == read.block || reachable(write.block, read)[read.block]) return true;
    }
    return false;
  }

  // Returns the blocks that can be reached from block `from` before `stop` is executed.
  const std::vector<bool>& reachable(std::size_t from, const Place& stop) {
    const auto [known, is_new] = reachable_.try_emplace({from, stop.block});
    std::vector<bool>& seen = known->second;
    if (!is_new) return seen;
    seen.resize(draft_.blocks.size());
    std::vector<std::size_t> open = {from};
    while (!open.empty()) {
      const std::size_t block = open.back();
      open.pop_back();
      if (block >= seen.size() || seen[block]) continue;
      seen[block] = true;
      if (block == stop.block) continue;
      const Control& control = draft_.blocks[block].control;
      open.insert(open.end(), control.targets.begin(), control.targets.end());
      if (goes_on(draft_.blocks[block])) open.push_back(block + 1);
    }
    return seen;
  }

  const Draft& draft_;
  const std::vector<InstructionInfo>& instructions_;
  std::vector<std::vector<Place>> reads_, writes_;                              // by value
  std::map<std::pair<std::size_t, std::size_t>, std::vector<bool>> reachable_;  // from, to
  std::set<const DraftOp*> empty_copies_;  // copies of unwritten values
  std::vector<UnwrittenValue> found_;
};

// On each path from the entry, adds the first read of the value if no unguarded write precedes it.
void add_first_reads(const Draft& draft, Value value, std::vector<UnwrittenValue>& found) {
  std::vector<bool> seen(draft.blocks.size());
  std::vector<std::size_t> open = {0};
  const auto names = [&](const DraftOp& op, bool writes) {
    for (int i = writes ? 0 : op.writes; i < (writes ? op.writes : op.count); ++i) {
      if (op.values[i] == value) return true;
    }
    const std::size_t first = writes ? 0 : op.list_writes;
    const std::size_t last = writes ? op.list_writes : op.list.size();
    for (std::size_t i = first; i < last; ++i) {
      if (op.list[i] == value) return true;
    }
    return !writes && op.guard == value;
  };
  const auto ends_at = [&](const DraftOp& op) {
    const bool reads = names(op, false);
    if (reads) found.push_back({op.op.instruction, value});
    return reads || (names(op, true) && op.guard == kNoValue);
  };
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (at >= seen.size() || seen[at]) continue;
    seen[at] = true;
    const DraftBlock& block = draft.blocks[at];
    if (std::any_of(block.ops.begin(), block.ops.end(), ends_at) || ends_at(block.end)) continue;
    open.insert(open.end(), block.control.targets.begin(), block.control.targets.end());
    if (goes_on(block)) open.push_back(at + 1);
  }
}

}  // namespace

std::vector<UnwrittenValue> find_perhaps_unwritten(const Draft& draft, const Liveness& liveness) {
  std::vector<UnwrittenValue> found;
  for (const Value value : liveness.live_at_entry) add_first_reads(draft, value, found);
  return found;
}

std::vector<UnwrittenValue> find_unwritten(const Draft& draft, const Liveness& liveness,
                                           const std::vector<InstructionInfo>& instructions) {
  return Search(draft, instructions).run(liveness);
}

}  // namespace tessera::vgpu
