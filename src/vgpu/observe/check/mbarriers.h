// mbarrier objects in shared memory: the knowledge that each phase passes on, and whether each
// thread that uses an object knows of its initialisation.
#pragma once

#include <map>

#include "vgpu/observe/check/clock.h"
#include "vgpu/report/observer.h"

namespace tessera::vgpu::check {

constexpr std::uint32_t kMbarrierBytes = 8;

struct Mbarrier {
  Entity initialiser = 0;
  Time initialised = 0;
  Actor by;  // the thread that initialised it
  // The knowledge that arrivals pass on. A release passes on all that its thread knew; a relaxed
  // arrival, only what earlier fences have prepared.
  struct Phase {
    Clock released;
    SharedHorizon fenced;
  };
  std::map<std::uint64_t, Phase> phases;  // the last few

  Phase& phase(std::uint64_t number);
};

class Mbarriers {
 public:
  void begin() { live_.clear(); }
  Mbarrier& init(MbarrierPlace place);
  Mbarrier* find(MbarrierPlace place);
  // Returns the object that contains this byte; null if there is none.
  const Mbarrier* holding(std::uint32_t owner, std::uint64_t offset) const;
  void end(MbarrierPlace place) { live_.erase(key(place)); }
  template <class F>
  void for_each(F f) {
    for (auto& [place, barrier] : live_) {
      f(MbarrierPlace{place.first, place.second}, barrier);
    }
  }

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  static Key key(MbarrierPlace place) { return {place.owner, place.offset}; }
  std::map<Key, Mbarrier> live_;
};

}  // namespace tessera::vgpu::check
