// mbarrier.* except for waits. These may block their warp and are in exec/warp/warp_async.cpp.
#include "vgpu/async/operations.h"
#include "vgpu/async/parts.h"

namespace tessera::vgpu {
namespace {

constexpr std::uint64_t kBytes = 8;

SharedPlace object_of(const Lanes& lanes, const Op& op, int operand, int lane) {
  return shared_place(site_of(lanes, op, lane),
                      register_of<std::uint64_t>(lanes, op, operand, lane), kBytes, kBytes,
                      (op.flags & kInCluster) != 0);
}

// Calls f(op, lane, site, mbarriers) for each active lane, in order.
template <class F>
void each(const Op* first, const Op* last, Lanes& lanes, F f) {
  Mbarriers& mbarriers = lanes.warp->cta().cluster().mbarriers();
  for (; first != last; ++first) {
    for_each_lane(lanes.mask,
                  [&](int lane) { f(*first, lane, site_of(lanes, *first, lane), mbarriers); });
  }
}

}  // namespace

void mbarrier_init(const Op* first, const Op* last, Lanes& lanes) {
  each(first, last, lanes, [&](const Op& op, int lane, const Site& site, Mbarriers& mbarriers) {
    mbarriers.init(site, object_of(lanes, op, 0, lane), word(lanes, op, 1, lane));
  });
}

void mbarrier_inval(const Op* first, const Op* last, Lanes& lanes) {
  each(first, last, lanes, [&](const Op& op, int lane, const Site& site, Mbarriers& mbarriers) {
    mbarriers.invalidate(site, object_of(lanes, op, 0, lane));
  });
}

void mbarrier_arrive(const Op* first, const Op* last, Lanes& lanes) {
  each(first, last, lanes, [&](const Op& op, int lane, const Site& site, Mbarriers& mbarriers) {
    Mbarriers::Arrival arrival;
    arrival.count = word(lanes, op, 2, lane);
    arrival.expect_bytes = word(lanes, op, 3, lane);
    arrival.expects = (op.flags & kExpects) != 0;
    arrival.drops = (op.flags & kDrops) != 0;
    arrival.no_complete = (op.flags & kNoComplete) != 0;
    arrival.relaxed = (op.flags & kOrdersNothing) != 0;
    const std::uint64_t state = mbarriers.arrive(site, object_of(lanes, op, 1, lane), arrival);
    if (op.flags & kReturnsState) register_of<std::uint64_t>(lanes, op, 0, lane) = state;
  });
}

void mbarrier_expect_tx(const Op* first, const Op* last, Lanes& lanes) {
  each(first, last, lanes, [&](const Op& op, int lane, const Site& site, Mbarriers& mbarriers) {
    mbarriers.expect(site, object_of(lanes, op, 0, lane), word(lanes, op, 1, lane));
  });
}

void mbarrier_complete_tx(const Op* first, const Op* last, Lanes& lanes) {
  each(first, last, lanes, [&](const Op& op, int lane, const Site& site, Mbarriers& mbarriers) {
    mbarriers.complete(site, object_of(lanes, op, 0, lane), word(lanes, op, 1, lane), 0);
  });
}

void mbarrier_pending_count(const Op* first, const Op* last, Lanes& lanes) {
  each(first, last, lanes, [&](const Op& op, int lane, const Site&, Mbarriers&) {
    register_of<std::uint32_t>(lanes, op, 0, lane) =
        pending_in_state(register_of<std::uint64_t>(lanes, op, 1, lane));
  });
}

}  // namespace tessera::vgpu
