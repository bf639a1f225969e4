#include "vgpu/observe/check/warp_clocks.h"

#include <algorithm>
#include <bit>

namespace tessera::vgpu::check {
namespace {

// The latest meetings of some lanes are remembered. What older ones ordered looks unordered.
constexpr std::size_t kMeetings = 64;

}  // namespace

void WarpClocks::begin(Entity self, std::uint32_t lanes, Time start) {
  self_ = self;
  live_ = lanes;
  groups_.assign(1, {});
  groups_[0].mask = ~std::uint32_t{0};
  groups_[0].floor = start;
  meetings_.clear();
  own_ = {};
  own_waiters_ = 0;
  handed_over_.fill(start);
  left_ = 0;
}

void WarpClocks::exit(std::uint32_t mask, Time last) {
  live_ &= ~mask;
  for (std::uint32_t left = mask; live_ != 0 && left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const Time handed = handed_over_[static_cast<std::size_t>(lane)];
    if (last <= handed) continue;
    left_since_ = left_ == 0 ? handed : std::min(left_since_, handed);
    left_ |= std::uint32_t{1} << lane;
  }
}

void WarpClocks::hand_over(std::uint32_t mask, Time now) {
  for (mask &= live_; mask != 0; mask &= mask - 1) {
    handed_over_[static_cast<std::size_t>(std::countr_zero(mask))] = now;
  }
}

// Adds all actions of the warp up to now, except the last actions of lanes that have exited.
void WarpClocks::note_own(Clock& clock, Time now) const {
  Time& seen = at(clock.seen, self_);
  if (left_ == 0) {
    seen = now;
    return;
  }
  seen = std::max(seen, left_since_);
  at(clock.stayed, self_) = now;
}

void WarpClocks::await_own(std::uint32_t mask, Entity copies, Time now) {
  at(own_.seen, copies) = now;
  own_waiters_ |= mask;
}

LaneGroup& WarpClocks::group_of(int lane) {
  for (LaneGroup& group : groups_) {
    if (group.mask >> lane & 1) return group;
  }
  return groups_.front();
}

Clock WarpClocks::known(std::uint32_t mask, Time now) const {
  Clock clock;
  for (const LaneGroup& group : groups_) {
    if (group.mask & mask) clock.join(group.clock);
  }
  clock.join(own_);
  note_own(clock, now);
  return clock;
}

Clock WarpClocks::released(std::uint32_t mask, Time now) {
  hand_over(mask, now);
  return known(mask, now);
}

void WarpClocks::acquire(std::uint32_t mask, const Clock& more, const std::vector<Time>& last,
                         Time now) {
  change(mask, [&](LaneGroup& group) {
    group.clock.join(more);
    refresh_floor(group, last, now);
  });
}

void WarpClocks::meet(std::uint32_t mask, const std::vector<Time>& last, Time now) {
  const bool all = (live_ & ~mask) == 0;
  hand_over(mask, now);
  if (all) {
    meetings_.clear();
    mask = ~std::uint32_t{0};
  } else {
    if (meetings_.size() == kMeetings) meetings_.erase(meetings_.begin());
    meetings_.push_back({mask, now});
  }
  LaneGroup& together = unite(mask, now);
  if (all) note_own(together.clock, now);
  refresh_floor(together, last, now);
}

void WarpClocks::exchange(std::uint32_t mask, const std::vector<Time>& last, Time now) {
  hand_over(mask, now);
  if (groups_.size() == 1 && own_waiters_ == 0) return;
  if ((live_ & ~mask) == 0) mask = ~std::uint32_t{0};
  refresh_floor(unite(mask, now), last, now);
}

// Makes these lanes one group.
LaneGroup& WarpClocks::unite(std::uint32_t mask, Time now) {
  separate(mask);
  Time lowest_floor = now;
  for (const LaneGroup& group : groups_) {
    if (group.mask & mask) lowest_floor = std::min(lowest_floor, group.floor);
  }
  LaneGroup together;
  for (const LaneGroup& group : groups_) {
    if (!(group.mask & mask)) continue;
    together.mask |= group.mask;
    together.clock.join(group.clock);
    join(together.pending, group.pending);
  }
  together.floor = lowest_floor;
  if (own_waiters_ != 0 && (own_waiters_ & ~mask & live_) == 0) {
    together.clock.join(own_);
    own_ = {};
    own_waiters_ = 0;
  }
  std::erase_if(groups_, [&](const LaneGroup& group) { return group.mask & mask; });
  groups_.push_back(std::move(together));
  return groups_.back();
}

// Splits groups so that each of them is inside or outside the mask.
void WarpClocks::separate(std::uint32_t mask) {
  for (std::size_t i = 0, count = groups_.size(); i < count; ++i) {
    const std::uint32_t inside = groups_[i].mask & mask;
    if (inside == 0 || inside == groups_[i].mask) continue;
    // If the only lanes outside the mask have exited, the group is not split.
    if ((groups_[i].mask & ~mask & live_) == 0) continue;
    LaneGroup rest = groups_[i];
    rest.mask &= ~mask;
    groups_[i].mask = inside;
    groups_.push_back(std::move(rest));
  }
}

void WarpClocks::refresh_floors(const std::vector<Time>& last, Time now) {
  for (LaneGroup& group : groups_) refresh_floor(group, last, now);
}

void WarpClocks::refresh_floor(LaneGroup& group, const std::vector<Time>& last, Time now) const {
  Time floor = now;
  const std::vector<Time>& seen = group.clock.seen;
  for (std::size_t e = 0; e < last.size(); ++e) {
    const Time known = e < seen.size() ? seen[e] : 0;
    if (last[e] > known) floor = std::min(floor, known);
  }
  group.floor = std::max(group.floor, floor);
}

bool WarpClocks::have_met(int lane, int other, Time since) const {
  return std::any_of(meetings_.begin(), meetings_.end(), [&](const Meeting& meeting) {
    return meeting.time >= since && meeting.mask >> lane & 1 && meeting.mask >> other & 1;
  });
}

}  // namespace tessera::vgpu::check
