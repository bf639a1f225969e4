// nvcc never reuses a virtual register: a tiled kernel names 1500 of them, of which 100 are live at
// once. Values that share places keep the registers of a warp in the host's L1 cache.
//
// Only values of equal width share a place, so that the bytes of one lane never become the bytes of
// another lane.
#include <algorithm>
#include <array>
#include <numeric>

#include "vgpu/exec/decode/form.h"
#include "vgpu/exec/decode/liveness.h"

namespace tessera::vgpu {
namespace {

constexpr std::uint32_t kAlignment = 64;

std::uint32_t slot_bytes(Scalar scalar) {
  if (scalar == Scalar::kPredicate) return sizeof(std::uint32_t);
  return kLanes * static_cast<std::uint32_t>(bits_of(scalar)) / 8;
}

// A pool of places for values of one width.
class Pool {
 public:
  std::uint32_t take(std::uint32_t bytes, std::uint32_t& frame_bytes) {
    if (free_.empty()) {
      const std::uint32_t offset = frame_bytes;
      frame_bytes += bytes;
      return offset;
    }
    const std::uint32_t offset = free_.back();
    free_.pop_back();
    return offset;
  }
  void give(std::uint32_t offset) { free_.push_back(offset); }

 private:
  std::vector<std::uint32_t> free_;
};

class SlotAssigner {
 public:
  SlotAssigner(const Draft& draft, Function& function)
      : draft_(draft), function_(function), places_(draft.values.size()) {}

  void run(const Liveness& liveness) {
    function_.live_registers = liveness.most_registers;
    // Predicates come last: their places have four bytes and would break the alignment of others.
    place_permanent(false);
    place_live(liveness, false);
    place_permanent(true);
    place_live(liveness, true);
    function_.frame_bytes = (function_.frame_bytes + kAlignment - 1) / kAlignment * kAlignment;
    for (Prefill prefill : draft_.prefills) {
      prefill.offset = places_[prefill.offset];
      function_.prefills.push_back(prefill);
    }
    for (Value v : liveness.live_at_entry) add_poison(v);
    write_blocks();
  }

 private:
  bool is_predicate(Value v) const { return draft_.values[v].scalar == Scalar::kPredicate; }

  void place_permanent(bool predicates) {
    for (Value v = 0; v < draft_.values.size(); ++v) {
      if (!draft_.values[v].permanent || is_predicate(v) != predicates) continue;
      places_[v] = function_.frame_bytes;
      function_.frame_bytes += slot_bytes(draft_.values[v].scalar);
    }
  }

  void place_live(const Liveness& liveness, bool predicates) {
    std::vector<Value> order;
    for (Value v = 0; v < draft_.values.size(); ++v) {
      if (draft_.values[v].permanent || is_predicate(v) != predicates) continue;
      if (!liveness.intervals[v].empty()) order.push_back(v);
    }
    std::sort(order.begin(), order.end(), [&](Value a, Value b) {
      return liveness.intervals[a].first < liveness.intervals[b].first;
    });
    std::array<Pool, 129> pools;  // by width in bits
    std::vector<Value> alive;     // a heap, the earliest end on top
    const auto ends_later = [&](Value a, Value b) {
      return liveness.intervals[a].last > liveness.intervals[b].last;
    };
    for (Value v : order) {
      while (!alive.empty() &&
             liveness.intervals[alive.front()].last < liveness.intervals[v].first) {
        pool_of(pools, alive.front()).give(places_[alive.front()]);
        std::pop_heap(alive.begin(), alive.end(), ends_later);
        alive.pop_back();
      }
      places_[v] =
          pool_of(pools, v).take(slot_bytes(draft_.values[v].scalar), function_.frame_bytes);
      alive.push_back(v);
      std::push_heap(alive.begin(), alive.end(), ends_later);
    }
  }

  Pool& pool_of(std::array<Pool, 129>& pools, Value v) {
    return pools[bits_of(draft_.values[v].scalar)];
  }

  // A register that may be read before it is written holds the same bytes in every run.
  void add_poison(Value v) {
    Prefill prefill{Prefill::Kind::kPoison, draft_.values[v].scalar};
    prefill.offset = places_[v];
    function_.prefills.push_back(prefill);
  }

  Op placed(const DraftOp& draft) {
    Op op = draft.op;
    op.list = static_cast<std::uint32_t>(function_.operand_lists.size());
    for (Value v : draft.list) function_.operand_lists.push_back(places_[v]);
    for (int i = 0; i < draft.count; ++i) {
      if (draft.values[i] != kNoValue) op.operand[i] = places_[draft.values[i]];
    }
    if (draft.guard != kNoValue) {
      op.guard = places_[draft.guard] | (draft.guard_negated ? 1 : 0);
    }
    return op;
  }

  void write_blocks() {
    for (const DraftBlock& draft : draft_.blocks) {
      BasicBlock& block = function_.blocks.emplace_back();
      block.first_stretch = static_cast<std::uint32_t>(function_.stretches.size());
      for (const DraftOp& op : draft.ops) {
        const auto at = static_cast<std::uint32_t>(function_.ops.size());
        function_.ops.push_back(placed(op));
        const bool opens = function_.stretches.size() == block.first_stretch ||
                           function_.ops[at - 1].run != function_.ops[at].run;
        if (opens) function_.stretches.push_back({at, at});
        function_.stretches.back().last = at + 1;
      }
      block.last_stretch = static_cast<std::uint32_t>(function_.stretches.size());
      block.first_instruction = draft.first_instruction;
      block.last_instruction = draft.last_instruction;
      block.control = draft.control;
      block.control.op = placed(draft.end);
      block.control.guarded = draft.end.guard != kNoValue;
    }
  }

  const Draft& draft_;
  Function& function_;
  std::vector<std::uint32_t> places_;
};

}  // namespace

void assign_slots(const Draft& draft, const Liveness& liveness, Function& function) {
  SlotAssigner(draft, function).run(liveness);
}

}  // namespace tessera::vgpu
