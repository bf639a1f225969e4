#include "vgpu/observe/check/mbarriers.h"

namespace tessera::vgpu::check {
namespace {

// The phases that are kept. A wait passes the current phase or the previous one.
constexpr std::size_t kPhases = 4;

}  // namespace

Mbarrier::Phase& Mbarrier::phase(std::uint64_t number) {
  Phase& phase = phases[number];
  while (phases.size() > kPhases) phases.erase(phases.begin());
  return phase;
}

Mbarrier& Mbarriers::init(MbarrierPlace place) { return live_[key(place)] = {}; }

Mbarrier* Mbarriers::find(MbarrierPlace place) {
  const auto found = live_.find(key(place));
  return found == live_.end() ? nullptr : &found->second;
}

const Mbarrier* Mbarriers::holding(std::uint32_t owner, std::uint64_t offset) const {
  const auto after = live_.upper_bound({owner, static_cast<std::uint32_t>(offset)});
  if (after == live_.begin()) return nullptr;
  const auto& [place, barrier] = *std::prev(after);
  return place.first == owner && offset - place.second < kMbarrierBytes ? &barrier : nullptr;
}

}  // namespace tessera::vgpu::check
