// The last access to a cell, in the few bits that shadow memory has for it.
#pragma once

#include <cstdint>

#include "vgpu/observe/check/clock.h"
#include "vgpu/report/observer.h"

namespace tessera::vgpu::check {

// The threads for which an access is strong: atomic, or with another ordering than .weak. Accesses
// that are strong for each other do not race.
enum class Reach : std::uint8_t { kNobody, kCta, kCluster, kAll };

constexpr Reach reach_of(AccessKind kind, MemoryOrder order, MemoryScope scope) {
  if (kind != AccessKind::kAtomic && order == MemoryOrder::kWeak) return Reach::kNobody;
  if (scope == MemoryScope::kCta) return Reach::kCta;
  return scope == MemoryScope::kCluster ? Reach::kCluster : Reach::kAll;
}

// An instruction, a lane, the reach of the access, and whether other lanes made the same access.
using Site = std::uint32_t;
constexpr std::uint32_t kSiteLanes = 5, kSiteReach = 30;
constexpr Site kLaneOfSite = (1u << kSiteLanes) - 1, kSiteSeveral = 1u << 29;

constexpr Site site_of(std::uint32_t instruction, Reach reach) {
  return instruction << kSiteLanes | static_cast<std::uint32_t>(reach) << kSiteReach;
}
constexpr Site with_lane(Site site, int lane) { return site | static_cast<std::uint32_t>(lane); }
constexpr int lane_of(Site site) { return static_cast<int>(site & kLaneOfSite); }
constexpr Reach reach_of(Site site) { return static_cast<Reach>(site >> kSiteReach); }
constexpr bool is_strong(Site site) { return reach_of(site) != Reach::kNobody; }
constexpr bool is_by_several(Site site) { return (site & kSiteSeveral) != 0; }
constexpr std::uint32_t instruction_of(Site site) {
  return (site & (kSiteSeveral - 1)) >> kSiteLanes;
}

// An access as shadow memory records it.
struct Past {
  Entity entity = 0;
  Time time = 0;
  Site site = 0;
  bool wrote = false;
};

}  // namespace tessera::vgpu::check
