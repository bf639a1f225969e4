#include "sass/model/live_ranges.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <numeric>
#include <set>

namespace tessera::sass {
namespace {

constexpr int kRegisters = 256;
using RegisterSet = std::bitset<kRegisters>;

RegisterSet registers_of(const std::vector<RegisterUse>& uses) {
  RegisterSet registers;
  for (const RegisterUse& use : uses) {
    if (use.file != RegisterFile::kGeneral) continue;
    for (int reg = use.first; reg < std::min(use.first + use.count, kRegisters); ++reg) {
      registers.set(static_cast<std::size_t>(reg));
    }
  }
  return registers;
}

// Disjoint sets that can be joined (union-find).
class Joined {
 public:
  int add() {
    parents_.push_back(static_cast<int>(parents_.size()));
    return parents_.back();
  }
  int find(int one) {
    while (parents_[one] != one) one = parents_[one] = parents_[parents_[one]];
    return one;
  }
  void join(int a, int b) { parents_[find(a)] = find(b); }

 private:
  std::vector<int> parents_;
};

class Analysis {
 public:
  explicit Analysis(const Program& program)
      : program_(program),
        next_(program.blocks.size()),
        live_in_(program.blocks.size()),
        live_after_(program.code.size()),
        entry_(program.blocks.size()),
        is_reached_(program.blocks.size(), false) {
    for (const Node& node : program.nodes) {
      is_reached_[node.block] = true;
      for (const std::size_t to : node.next) next_[node.block].insert(program.nodes[to].block);
    }
    result_.reads.resize(program.code.size());
    result_.writes.resize(program.code.size());
    result_.at_entry.resize(program.blocks.size());
  }

  LiveRanges run() {
    if (program_.nodes.empty()) return result_;
    find_liveness();
    const std::size_t first = program_.nodes.front().block;
    for (std::size_t reg = 0; reg < kRegisters; ++reg) {
      if (live_in_[first][reg]) entry_[first][static_cast<int>(reg)] = at_entry(reg);
    }
    visit(first);
    finish();
    return std::move(result_);
  }

 private:
  RegisterSet written_for_sure(std::size_t at) const {
    return program_.is_guarded(at) ? RegisterSet() : registers_of(program_.operations[at].writes);
  }

  // Computes which registers are live, backwards through the blocks until nothing changes.
  void find_liveness() {
    for (bool changes = true; changes;) {
      changes = false;
      for (std::size_t block = program_.blocks.size(); block-- > 0;) {
        RegisterSet live;
        for (const std::size_t to : next_[block]) live |= live_in_[to];
        const Block& code = program_.blocks[block];
        for (std::size_t at = code.end; at-- > code.begin;) {
          live_after_[at] = live;
          live &= ~written_for_sure(at);
          live |= registers_of(program_.operations[at].reads);
        }
        changes = changes || live != live_in_[block];
        live_in_[block] = live;
      }
    }
  }

  int at_entry(std::size_t reg) {
    const int range = new_range(static_cast<int>(reg));
    is_at_entry_.insert(range);
    return range;
  }
  int new_range(int reg) {
    registers_.push_back(reg);
    return joined_.add();
  }

  using State = std::map<int, int>;  // register to range

  void visit(std::size_t first) {
    std::vector<std::size_t> open = {first};
    std::vector<bool> is_visited(program_.blocks.size(), false);
    is_visited[first] = true;
    while (!open.empty()) {
      const std::size_t block = open.back();
      open.pop_back();
      const State left = pass(block);
      for (const std::size_t to : next_[block]) {
        enter(to, left);
        if (is_visited[to]) continue;
        is_visited[to] = true;
        open.push_back(to);
      }
    }
  }

  State pass(std::size_t block) {
    State state = entry_[block];
    const Block& code = program_.blocks[block];
    for (std::size_t at = code.begin; at < code.end; ++at) {
      const Operation& operation = program_.operations[at];
      const RegisterSet read = registers_of(operation.reads),
                        written = registers_of(operation.writes);
      for (int reg = 0; reg < kRegisters; ++reg) {
        if (read[static_cast<std::size_t>(reg)]) result_.reads[at].emplace_back(reg, state.at(reg));
      }
      for (int reg = 0; reg < kRegisters; ++reg) {
        if (!written[static_cast<std::size_t>(reg)]) continue;
        const int range = new_range(reg);
        const auto old = state.find(reg);
        const bool keeps_old = program_.is_guarded(at) && old != state.end();
        if (keeps_old && live_after_[at][static_cast<std::size_t>(reg)]) {
          joined_.join(range, old->second);
        }
        state[reg] = range;
        result_.writes[at].emplace_back(reg, range);
      }
    }
    return state;
  }

  void enter(std::size_t block, const State& left) {
    for (int reg = 0; reg < kRegisters; ++reg) {
      if (!live_in_[block][static_cast<std::size_t>(reg)]) continue;
      const auto [found, is_new] = entry_[block].emplace(reg, left.at(reg));
      if (!is_new) joined_.join(found->second, left.at(reg));
    }
  }

  // Numbers the live ranges and notes where they are live.
  void finish() {
    std::map<int, int> names;
    const auto name = [&](int range) {
      const int set = joined_.find(range);
      const auto [found, is_new] = names.emplace(set, static_cast<int>(names.size()));
      if (is_new) {
        result_.ranges.push_back({registers_[static_cast<std::size_t>(set)], false,
                                  std::vector<std::uint64_t>(program_.code.size() / 64 + 1)});
      }
      return found->second;
    };
    for (const int range : is_at_entry_) {
      result_.ranges[static_cast<std::size_t>(name(range))].is_at_entry = true;
    }
    for (auto* list : {&result_.reads, &result_.writes}) {
      for (LiveRanges::Named& named : *list) {
        for (auto& [reg, range] : named) range = name(range);
      }
    }
    for (std::size_t block = 0; block < program_.blocks.size(); ++block) {
      if (!is_reached_[block]) continue;
      State state;
      for (const auto& [reg, range] : entry_[block]) state[reg] = name(range);
      result_.at_entry[block].assign(state.begin(), state.end());
      mark(program_.blocks[block], state);
    }
  }

  void mark(const Block& block, State& state) {
    for (std::size_t at = block.begin; at < block.end; ++at) {
      for (const auto& [reg, range] : result_.writes[at]) state[reg] = range;
      for (const auto& [reg, range] : state) {
        if (live_after_[at][static_cast<std::size_t>(reg)]) set_live(range, at);
      }
      for (const auto& [reg, range] : result_.writes[at]) set_live(range, at);
    }
  }
  void set_live(int range, std::size_t at) {
    result_.ranges[static_cast<std::size_t>(range)].live[at / 64] |= std::uint64_t{1} << at % 64;
  }

  const Program& program_;
  std::vector<std::set<std::size_t>> next_;
  std::vector<RegisterSet> live_in_, live_after_;
  std::vector<State> entry_;
  std::vector<bool> is_reached_;
  Joined joined_;
  std::vector<int> registers_;  // by range, before they are joined
  std::set<int> is_at_entry_;
  LiveRanges result_;
};

}  // namespace

bool LiveRange::meets(const LiveRange& other) const {
  for (std::size_t i = 0; i < live.size(); ++i) {
    if ((live[i] & other.live[i]) != 0) return true;
  }
  return false;
}

LiveRanges live_ranges_of(const Program& program) { return Analysis(program).run(); }

}  // namespace tessera::sass
