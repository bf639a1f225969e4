// Two data flows with one bit per register that some wgmma uses. Forward: the register may be in
// flight. Backward: a wgmma may use the register before the next fence.
#include "vgpu/exec/decode/wgmma_watch.h"

#include <algorithm>
#include <unordered_map>

#include "vgpu/exec/guard.h"
#include "vgpu/exec/ops/matrix/wgmma_flags.h"

namespace tessera::vgpu {
namespace {

using Flags = std::vector<bool>;

// Adds `from` to `to`. Returns whether `to` has changed.
bool add(Flags& to, const Flags& from) {
  bool changed = false;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (!from[i] || to[i]) continue;
    to[i] = true;
    changed = true;
  }
  return changed;
}

class Watch {
 public:
  Watch(Draft& draft, const OperationSet& operations)
      : draft_(draft),
        product_(operations.find("wgmma.mma_async")->run),
        wait_(operations.find("wgmma.wait_group")->run),
        fence_(operations.find("wgmma.fence")->run),
        touch_(operations.find("wgmma.touch")->run) {}

  void run() {
    find_registers();
    if (numbers_.empty()) return;
    const Flags none(numbers_.size());
    flight_.assign(draft_.blocks.size(), none);
    unfenced_.assign(draft_.blocks.size(), none);
    flow_forward();
    flow_backward();
    for (std::size_t b = 0; b < draft_.blocks.size(); ++b) insert(b);
  }

 private:
  bool is(const DraftOp& op, Run run) const { return op.op.run == run; }

  // The registers of a product: those of D, and those of A if A is in registers.
  static std::size_t register_count(const DraftOp& product) {
    return product.list_writes + (product.op.flags & kAInRegisters ? 4 : 0);
  }

  void find_registers() {
    for (const DraftBlock& block : draft_.blocks) {
      if (!is(block.end, product_)) continue;
      for (std::size_t i = 0; i < register_count(block.end); ++i) {
        numbers_.emplace(block.end.list[i], numbers_.size());
      }
    }
  }

  template <class F>
  void for_each_watched(const DraftOp& op, F f) const {
    const auto visit = [&](Value value) {
      const auto found = numbers_.find(value);
      if (found != numbers_.end()) f(value, found->second);
    };
    std::for_each(op.values.begin(), op.values.begin() + op.count, visit);
    std::for_each(op.list.begin(), op.list.end(), visit);
  }

  void add_registers(const DraftOp& product, Flags& to) const {
    for (std::size_t i = 0; i < register_count(product); ++i) {
      to[numbers_.at(product.list[i])] = true;
    }
  }

  Flags after(std::size_t b) const {
    Flags bits = flight_[b];
    const DraftOp& end = draft_.blocks[b].end;
    if (is(end, product_)) add_registers(end, bits);
    if (is(end, wait_) && end.op.immediate == 0) bits.assign(bits.size(), false);
    return bits;
  }
  // Returns the registers that a wgmma may use before a fence, from the start of the block on.
  // unfenced_ is this set at the end of the block.
  Flags before(std::size_t b) const {
    Flags bits = unfenced_[b];
    const DraftOp& end = draft_.blocks[b].end;
    if (is(end, fence_)) bits.assign(bits.size(), false);
    if (is(end, product_)) add_registers(end, bits);
    return bits;
  }

  template <class F>
  void for_each_successor(std::size_t b, F f) const {
    if (b + 1 < draft_.blocks.size()) f(b + 1);
    for (const std::uint32_t target : draft_.blocks[b].control.targets) f(target);
  }

  void flow_forward() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = 0; b < draft_.blocks.size(); ++b) {
        const Flags out = after(b);
        for_each_successor(b, [&](std::size_t next) { changed |= add(flight_[next], out); });
      }
    }
  }
  void flow_backward() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = draft_.blocks.size(); b-- > 0;) {
        for_each_successor(b,
                           [&](std::size_t next) { changed |= add(unfenced_[b], before(next)); });
      }
    }
  }

  // Operations inside a block do not change the sets of the data flows; only the ends of blocks do.
  void insert(std::size_t b) {
    DraftBlock& block = draft_.blocks[b];
    Flags suspects = flight_[b];
    add(suspects, before(b));
    if (std::find(suspects.begin(), suspects.end(), true) == suspects.end() &&
        std::find(unfenced_[b].begin(), unfenced_[b].end(), true) == unfenced_[b].end()) {
      return;
    }
    std::vector<DraftOp> ops;
    for (DraftOp& op : block.ops) {
      insert_touch(op, suspects, ops);
      ops.push_back(std::move(op));
    }
    Flags at_end = flight_[b];
    add(at_end, unfenced_[b]);
    if (!is(block.end, product_)) insert_touch(block.end, at_end, ops);
    block.ops = std::move(ops);
  }

  void insert_touch(const DraftOp& op, const Flags& suspects, std::vector<DraftOp>& to) {
    DraftOp touch;
    for_each_watched(op, [&](Value value, std::size_t number) {
      const bool known = std::find(touch.list.begin(), touch.list.end(), value) != touch.list.end();
      if (suspects[number] && !known) touch.list.push_back(value);
    });
    if (touch.list.empty()) return;
    touch.op.instruction = op.op.instruction;
    touch.op.immediate = static_cast<std::int64_t>(touch.list.size());
    // WHY guarded writes: they neither begin nor end the life of a register.
    touch.list_writes = static_cast<std::uint32_t>(touch.list.size());
    touch.guard = op.guard == kNoValue ? always() : op.guard;
    touch.guard_negated = op.guard_negated;
    touch.op.guarded = touch_;
    touch.op.run = op.guard == kNoValue ? touch_ : run_guarded;
    to.push_back(std::move(touch));
  }

  Value always() {
    if (always_ == kNoValue) {
      always_ = static_cast<Value>(draft_.values.size());
      draft_.values.push_back({Scalar::kPredicate, true});
      Prefill prefill{Prefill::Kind::kConstant, Scalar::kPredicate};
      prefill.offset = always_;
      prefill.bits = 1;
      draft_.prefills.push_back(prefill);
    }
    return always_;
  }

  Draft& draft_;
  const Run product_, wait_, fence_, touch_;
  std::unordered_map<Value, std::size_t> numbers_;
  std::vector<Flags> flight_;    // at the begin of each block
  std::vector<Flags> unfenced_;  // at its end
  Value always_ = kNoValue;
};

}  // namespace

void watch_wgmma_registers(Draft& draft, const OperationSet& operations) {
  Watch(draft, operations).run();
}

}  // namespace tessera::vgpu
