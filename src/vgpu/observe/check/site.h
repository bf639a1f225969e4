// Who touched a cell last, in the few bits that a shadow has room for.
#pragma once

#include <cstdint>

#include "vgpu/observe/check/clock.h"

namespace tessera::vgpu::check {

// An instruction and a lane, and two facts. Strong: atomic, or ordered by a modifier other than
// .weak; strong accesses do not race with each other. Several: more lanes than this one did it.
using Site = std::uint32_t;
constexpr std::uint32_t kSiteLanes = 5, kSiteStrong = 31;
constexpr Site kSiteSeveral = 1u << 30;

constexpr Site site_of(std::uint32_t instruction, bool strong) {
  return instruction << kSiteLanes | std::uint32_t{strong} << kSiteStrong;
}
constexpr Site with_lane(Site site, int lane) { return site | static_cast<std::uint32_t>(lane); }
constexpr int lane_of(Site site) { return static_cast<int>(site & ((1u << kSiteLanes) - 1)); }
constexpr bool is_strong(Site site) { return site >> kSiteStrong != 0; }
constexpr bool is_by_several(Site site) { return (site & kSiteSeveral) != 0; }
constexpr std::uint32_t instruction_of(Site site) {
  return (site & (kSiteSeveral - 1)) >> kSiteLanes;
}

// One access, as a shadow remembers it.
struct Past {
  Entity entity = 0;
  Time time = 0;
  Site site = 0;
  bool wrote = false;
};

}  // namespace tessera::vgpu::check
