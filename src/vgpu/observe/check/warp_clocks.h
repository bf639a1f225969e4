// The clocks of one warp. Its lanes have the same knowledge until only some of them wait for
// something; they meet again at bar.warp.sync, at a barrier of the CTA, or at any other *.sync.
#pragma once

#include <array>
#include <vector>

#include "vgpu/observe/check/clock.h"

namespace tessera::vgpu::check {

struct LaneGroup {
  std::uint32_t mask = 0;
  Clock clock;
  SharedHorizon pending;  // seen by relaxed reads, known after the next fence
  // Everything that any entity did up to this time is known. This saves looking at the clock.
  Time floor = 0;
};

class WarpClocks {
 public:
  // Everything before `start` is known to all lanes.
  void begin(Entity self, std::uint32_t lanes, Time start);

  std::vector<LaneGroup>& groups() { return groups_; }
  Entity self() const { return self_; }
  std::uint32_t live() const { return live_; }
  // The group of one lane.
  LaneGroup& group_of(int lane);

  // The joint knowledge of these lanes, with everything that the warp did up to `now`.
  Clock released(std::uint32_t mask, Time now);
  // The knowledge of these lanes when they exit; no other thread has synchronised with it.
  Clock known(std::uint32_t mask, Time now) const;
  // The lanes learn more. `last` is the time of each entity's last action.
  void acquire(std::uint32_t mask, const Clock& more, const std::vector<Time>& last, Time now);
  // The lanes have met.
  void meet(std::uint32_t mask, const std::vector<Time>& last, Time now);
  // The lanes get the same knowledge of other entities, but none of each other.
  void exchange(std::uint32_t mask, const std::vector<Time>& last, Time now);
  // Calls f(group) with a group that contains only these lanes, so that its changes concern no
  // others.
  template <class F>
  void change(std::uint32_t mask, F f) {
    separate(mask);
    for (LaneGroup& group : groups_) {
      if (group.mask & mask) f(group);
    }
  }
  // `last`: when the warp touched memory last.
  void exit(std::uint32_t mask, Time last);
  // Whether the lane has left the kernel without a barrier, arrival or release after this time, so
  // that no other thread knows what it did then.
  bool has_left(int lane, Time time) const {
    return left_ >> lane & 1 && time > handed_over_[static_cast<std::size_t>(lane)];
  }

  // Copies (cp.async) that these lanes have waited for: until the warp meets, each lane sees only
  // its own. Other threads learn of them as usual.
  void await_own(std::uint32_t mask, Entity copies, Time now);
  const Clock& own_copies() const { return own_; }
  void refresh_floors(const std::vector<Time>& last, Time now);

  // Whether two lanes of the warp have met at or after this time.
  bool have_met(int lane, int other, Time since) const;

 private:
  struct Meeting {
    std::uint32_t mask;
    Time time;
  };

  LaneGroup& unite(std::uint32_t mask, Time now);
  void separate(std::uint32_t mask);
  void hand_over(std::uint32_t mask, Time now);
  void note_own(Clock& clock, Time now) const;
  void refresh_floor(LaneGroup& group, const std::vector<Time>& last, Time now) const;

  Entity self_ = 0;
  std::uint32_t live_ = 0;
  std::vector<LaneGroup> groups_;  // disjoint, together all lanes
  std::vector<Meeting> meetings_;  // meetings of some lanes since the last meeting of all lanes
  Clock own_;                      // copies that were waited for since then
  std::uint32_t own_waiters_ = 0;
  std::array<Time, 32> handed_over_ = {};  // by lane: when it last released or met others
  std::uint32_t left_ = 0;                 // with something that was not handed over
  Time left_since_ = 0;  // time up to which all of these handed over their knowledge
};

}  // namespace tessera::vgpu::check
