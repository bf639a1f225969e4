// Waits for a phase of an mbarrier. A wait stops its lanes until the phase is complete. If nothing
// else can run, the wait returns false, as a wait on a GPU may at any time.
#include <algorithm>
#include <bit>

#include "vgpu/async/operations.h"
#include "vgpu/exec/cluster.h"
#include "vgpu/exec/warp/warp.h"

namespace tessera::vgpu {

namespace {

// Reports lanes that passed the same phase of the same object as one event.
class Passes {
 public:
  explicit Passes(Warp& warp, const Op& op) : warp_(warp), op_(op) {}
  ~Passes() { tell(); }
  void add(int lane, const SharedPlace& place, std::uint64_t phase) {
    if (phase == Mbarriers::kNoPhase) return;
    if (mask_ != 0 && (phase != phase_ || place.offset != place_.offset)) tell();
    place_ = {place.owner, place.offset};
    phase_ = phase;
    mask_ |= std::uint32_t{1} << lane;
  }

 private:
  void tell() {
    Observer* observer = warp_.cta().observer();
    if (observer && mask_ != 0) {
      observer->mbarrier_passes(
          warp_.actor(op_, mask_), place_, phase_,
          op_.flags & kOrdersNothing ? MemoryOrder::kRelaxed : MemoryOrder::kAcquire);
    }
    mask_ = 0;
  }

  Warp& warp_;
  const Op& op_;
  MbarrierPlace place_;
  std::uint64_t phase_ = 0;
  std::uint32_t mask_ = 0;
};

}  // namespace

// Returns the lanes of the split whose phase is complete.
std::uint32_t Warp::test_mbarrier(const Split& split, SharedPlace& place, bool& uniform) {
  const Op& op = control_of(split).op;
  const std::byte* registers = split.frame->registers.get();
  const auto* addresses = reinterpret_cast<const std::uint64_t*>(registers + op.operand[1]);
  const auto* parities = reinterpret_cast<const std::uint32_t*>(registers + op.operand[2]);
  const auto* states = reinterpret_cast<const std::uint64_t*>(registers + op.operand[2]);
  Mbarriers& mbarriers = cta_.cluster().mbarriers();
  const std::uint64_t first = addresses[std::countr_zero(split.mask)];
  uniform = true;
  std::uint32_t done = 0;
  Passes passes(*this, op);
  for_each_lane(split.mask, [&](int lane) {
    const Site site{this, &op, lane};
    uniform &= addresses[lane] == first;
    place = shared_place(site, addresses[lane], 8, 8, false);
    const auto phase = op.flags & kParity ? mbarriers.test_parity(site, place, parities[lane] & 1)
                                          : mbarriers.test_state(site, place, states[lane]);
    if (!phase) return;
    done |= std::uint32_t{1} << lane;
    passes.add(lane, place, *phase);
  });
  return done;
}

void Warp::wait_at_mbarrier(std::size_t index) {
  Split& split = splits_[index];
  SharedPlace place;
  bool uniform = true;
  const std::uint32_t done = test_mbarrier(split, place, uniform);
  if (done != 0 || cta_.cluster().polls_freely()) return end_wait(split, done);
  if (!uniform || cta_.cluster().is_spurious()) {
    end_wait(split, 0);
    split.deferred = true;
    return;
  }
  split.wait = Wait::kMbarrier;
  split.barrier = place.offset;
}

void Warp::end_wait(Split& split, std::uint32_t done) {
  auto* to = reinterpret_cast<std::uint32_t*>(split.frame->registers.get() +
                                              control_of(split).op.operand[0]);
  *to = (*to & ~split.mask) | done;
  split.wait = Wait::kNone;
  ++split.block;
}

void Warp::mbarrier_opens(std::uint32_t offset) {
  for (Split& split : splits_) {
    if (split.wait != Wait::kMbarrier || split.barrier != offset) continue;
    SharedPlace place;
    bool uniform = true;
    if (const std::uint32_t done = test_mbarrier(split, place, uniform)) end_wait(split, done);
  }
}

bool Warp::may_stand_at(std::uint32_t mbarrier) const {
  return std::any_of(splits_.begin(), splits_.end(), [&](const Split& split) {
    return split.wait == Wait::kNone ||
           (split.wait == Wait::kMbarrier && split.barrier == mbarrier);
  });
}

bool Warp::wake_mbarrier_waits() {
  bool any = false;
  for (Split& split : splits_) {
    if (split.wait != Wait::kMbarrier) continue;
    end_wait(split, 0);
    any = true;
  }
  return any;
}

}  // namespace tessera::vgpu
