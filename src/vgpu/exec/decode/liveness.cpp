// A backward data flow over blocks with one bit per value. A guarded write does not end the life of
// the old value, because lanes with a false guard keep it.
#include "vgpu/exec/decode/liveness.h"

#include <algorithm>
#include <bit>

#include "vgpu/exec/decode/form.h"

namespace tessera::vgpu {
namespace {

class Bits {
 public:
  explicit Bits(std::size_t count) : words_((count + 63) / 64) {}
  void set(Value v) { words_[v / 64] |= std::uint64_t{1} << v % 64; }
  void clear(Value v) { words_[v / 64] &= ~(std::uint64_t{1} << v % 64); }
  // Calls f for each value of the set.
  template <class F>
  void for_each(F f) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t left = words_[i]; left != 0; left &= left - 1) {
        f(static_cast<Value>(i * 64 + static_cast<std::size_t>(std::countr_zero(left))));
      }
    }
  }
  bool test(Value v) const { return words_[v / 64] >> v % 64 & 1; }
  // Adds the values of `a` that are not in `b`. Returns whether this set has changed.
  bool add(const Bits& a, const Bits& b) {
    bool changed = false;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::uint64_t more = a.words_[i] & ~b.words_[i];
      changed |= (more & ~words_[i]) != 0;
      words_[i] |= more;
    }
    return changed;
  }

 private:
  std::vector<std::uint64_t> words_;
};

struct BlockFacts {
  Bits read, written, live_in, live_out;  // read before written; written for sure
  explicit BlockFacts(std::size_t count)
      : read(count), written(count), live_in(count), live_out(count) {}
};

template <class F>
void for_each_op(const DraftBlock& block, F f) {
  for (const DraftOp& op : block.ops) f(op);
  f(block.end);
}

template <class F>
void for_each_read(const DraftOp& op, F f) {
  for (int i = op.writes; i < op.count; ++i) {
    if (op.values[i] != kNoValue) f(op.values[i]);
  }
  for (std::size_t i = op.list_writes; i < op.list.size(); ++i) f(op.list[i]);
  for (Value held : op.holds) f(held);
  if (op.guard != kNoValue) f(op.guard);
}

template <class F>
void for_each_write(const DraftOp& op, F f) {
  for (int i = 0; i < op.writes; ++i) {
    if (op.values[i] != kNoValue) f(op.values[i]);
  }
  for (std::size_t i = 0; i < op.list_writes; ++i) f(op.list[i]);
}

BlockFacts facts_of(const DraftBlock& block, std::size_t count) {
  BlockFacts facts(count);
  for_each_op(block, [&](const DraftOp& op) {
    for_each_read(op, [&](Value v) {
      if (!facts.written.test(v)) facts.read.set(v);
    });
    if (op.guard == kNoValue) for_each_write(op, [&](Value v) { facts.written.set(v); });
  });
  return facts;
}

void flow(const Draft& draft, std::vector<BlockFacts>& facts) {
  const Bits nothing(draft.values.size());
  for (auto& block : facts) block.live_in.add(block.read, nothing);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = facts.size(); b-- > 0;) {
      const auto take = [&](std::size_t successor) {
        if (successor < facts.size()) facts[b].live_out.add(facts[successor].live_in, nothing);
      };
      take(b + 1);  // WHY always: a guarded jump falls through; else this only costs a slot
      for (std::uint32_t target : draft.blocks[b].control.targets) take(target);
      changed |= facts[b].live_in.add(facts[b].live_out, facts[b].written);
    }
  }
}

// The number of 32-bit registers per lane. Predicates and constants do not count.
std::uint32_t registers_of(const DraftValue& value) {
  if (value.permanent || value.scalar == Scalar::kPredicate) return 0;
  return static_cast<std::uint32_t>(std::max(bits_of(value.scalar), 32)) / 32;
}

// Walks backward through each block, beginning with the values that are live at its end.
std::uint32_t most_registers(const Draft& draft, const std::vector<BlockFacts>& facts) {
  std::uint32_t most = 0;
  for (std::size_t b = 0; b < facts.size(); ++b) {
    Bits live = facts[b].live_out;
    std::uint32_t now = 0;
    live.for_each([&](Value v) { now += registers_of(draft.values[v]); });
    const auto change = [&](Value v, bool becomes_live) {
      if (live.test(v) == becomes_live) return;
      becomes_live ? live.set(v) : live.clear(v);
      const std::uint32_t registers = registers_of(draft.values[v]);
      now = becomes_live ? now + registers : now - registers;
    };
    const auto step_back = [&](const DraftOp& op) {
      if (op.guard == kNoValue) {
        for_each_write(op, [&](Value v) { change(v, true); });  // unread ones need a place, too
        most = std::max(most, now);
        for_each_write(op, [&](Value v) { change(v, false); });
      }
      for_each_read(op, [&](Value v) { change(v, true); });
      most = std::max(most, now);
    };
    step_back(draft.blocks[b].end);
    const auto& ops = draft.blocks[b].ops;
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) step_back(*op);
  }
  return most;
}

}  // namespace

Liveness find_liveness(const Draft& draft) {
  const std::size_t count = draft.values.size();
  std::vector<BlockFacts> facts;
  facts.reserve(draft.blocks.size());
  for (const DraftBlock& block : draft.blocks) facts.push_back(facts_of(block, count));
  flow(draft, facts);

  Liveness liveness;
  liveness.intervals.resize(count);
  std::uint32_t at = 0;
  const auto cover = [&](Value v) {
    Interval& interval = liveness.intervals[v];
    interval.first = std::min(interval.first, at);
    interval.last = std::max(interval.last, at);
  };
  for (std::size_t b = 0; b < facts.size(); ++b) {
    facts[b].live_in.for_each(cover);
    for_each_op(draft.blocks[b], [&](const DraftOp& op) {
      for_each_read(op, cover);
      for_each_write(op, cover);
      ++at;
    });
    --at;
    facts[b].live_out.for_each(cover);
    ++at;
  }
  liveness.most_registers = most_registers(draft, facts);
  for (Value v = 0; v < count && !facts.empty(); ++v) {
    if (facts[0].live_in.test(v) && !draft.values[v].permanent) liveness.live_at_entry.push_back(v);
  }
  return liveness;
}

}  // namespace tessera::vgpu
