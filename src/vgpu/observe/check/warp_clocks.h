// The vector clocks of one warp. All lanes have one clock until only some of them wait for
// something. The lanes meet again at bar.warp.sync, at a barrier of the CTA, or at another *.sync.
#pragma once

#include <array>
#include <vector>

#include "vgpu/observe/check/clock.h"

namespace tessera::vgpu::check {

struct LaneGroup {
  std::uint32_t mask = 0;
  Clock clock;
  SharedHorizon pending;  // seen by relaxed reads, known after the next fence
  // All actions of all entities up to this time are known. Often this saves a look at the clock.
  Time floor = 0;
};

class WarpClocks {
 public:
  // Everything before `start` is known to all lanes.
  void begin(Entity self, std::uint32_t lanes, Time start);

  std::vector<LaneGroup>& groups() { return groups_; }
  Entity self() const { return self_; }
  std::uint32_t live() const { return live_; }
  // Returns the group that contains this lane.
  LaneGroup& group_of(int lane);

  // Returns the joint knowledge of these lanes, with all actions of the warp up to `now`.
  Clock released(std::uint32_t mask, Time now);
  // Returns the knowledge of these lanes when they exit. No other thread synchronises with it.
  Clock known(std::uint32_t mask, Time now) const;
  // The lanes learn what `more` knows. `last` has the time of each entity's last action.
  void acquire(std::uint32_t mask, const Clock& more, const std::vector<Time>& last, Time now);
  // The lanes have met, so each of them knows what the others did.
  void meet(std::uint32_t mask, const std::vector<Time>& last, Time now);
  // The lanes get equal knowledge of other entities, but do not learn what each other did.
  void exchange(std::uint32_t mask, const std::vector<Time>& last, Time now);
  // Calls f(group) for groups that contain only these lanes, so that changes do not affect other
  // lanes.
  template <class F>
  void change(std::uint32_t mask, F f) {
    separate(mask);
    for (LaneGroup& group : groups_) {
      if (group.mask & mask) f(group);
    }
  }
  // `last` is the time of the warp's last access to memory.
  void exit(std::uint32_t mask, Time last);
  // Whether the lane has exited, and passed no barrier, arrival or release after this time. Then no
  // other thread knows what the lane did at that time.
  bool has_left(int lane, Time time) const {
    return left_ >> lane & 1 && time > handed_over_[static_cast<std::size_t>(lane)];
  }

  // These lanes have waited for their own copies (cp.async). Until the lanes of the warp meet, each
  // lane knows only its own copies to have ended. Other threads learn of the copies as usual.
  void await_own(std::uint32_t mask, Entity copies, Time now);
  const Clock& own_copies() const { return own_; }
  void refresh_floors(const std::vector<Time>& last, Time now);

  // Whether the two lanes have met at this time or later.
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
