// Rules on costs that lanes of a warp cause each other: updates of one address, and diverging
// branches.
#include <fmt/format.h>

#include <algorithm>

#include "arch/costs.h"
#include "lab/explain/advice/rules.h"

namespace tessera::lab {
namespace {

constexpr double kWarp = 32;

// Returns the updates in global and shared memory that are executed one after another. If ptxas
// adds up a warp's updates first, they count as one.
double updates_in_turn(const Site& site) {
  const SerialUpdates updates = serial_updates_of(site);
  return updates.shared + updates.meeting;
}
std::uint64_t requests_of(const Site& site) {
  return site.memory.global.requests + site.memory.shared.requests;
}
std::uint64_t lanes_of(const Site& site) {
  return site.memory.global.lanes + site.memory.shared.lanes;
}

bool is_in_shared_memory(const Site& site) {
  return site.memory.shared.requests > site.memory.global.requests;
}

// Returns the time that the updates in the sector with the most updates would take if they all went
// to one address, with this site's type.
double one_address_ms(const Evidence& e, const Site& site) {
  const arch::Costs costs;
  const bool are_floats = serial_updates_of(site).are_floats;
  const double each_ns = are_floats ? costs.hot_float_ns : costs.hot_integer_ns;
  return std::max(one_sector_ms(e.totals), 1e-6 * updates_of_one_sector(e.totals) * each_ns);
}

// Finds atomics whose updates, over the whole launch, go to few sectors. Another distribution of
// the work within a warp would not reduce the number of these updates.
Found crowded_sectors(const Evidence& e) {
  const auto meeting = [](const Site& s) { return serial_updates_of(s).meeting; };
  const Site* site = largest(e.sites, meeting);
  if (!site || bound_ms(e) == 0) return {};
  const double ms = ms_of(e, Resource::kHotSector);
  if (ms < kWorthAWord * bound_ms(e)) return {};
  return Advice{
      std::string(kAtomicContention), std::min(1.0, ms / bound_ms(e)),
      fmt::format("the {} requests of {} meet in at most {} sector{} of memory: updates of one "
                  "sector go one after another and take {:.3g} ms at least, {:.3g} ms if they are "
                  "of one address.",
                  grouped(static_cast<double>(site->memory.global.requests)), access_at(*site),
                  grouped(e.totals.written_sectors), e.totals.written_sectors == 1 ? "" : "s", ms,
                  one_address_ms(e, *site)),
      "Combine within a block first, in registers and shared memory, so that a block is left with "
      "one atomic per address; let a block take more elements."};
}

const char* remedy_of(const Site& site) {
  return is_in_shared_memory(site)
             ? "Combine within a warp first (__reduce_add_sync where all lanes have one address, "
               "__match_any_sync where they differ), or give each warp counters of its own in "
               "shared memory and add those up at the end."
             : "Combine within a warp first (__reduce_add_sync or shuffles; __match_any_sync where "
               "lanes have different addresses), keep a block's counters in shared memory, and "
               "add each to global memory once per block.";
}

// Returns the average number of threads in a warp of this launch.
double lanes_of_blocks(const Placement& placement) {
  if (placement.threads == 0) return kWarp;
  const int warps = (placement.threads + 31) / 32;
  return static_cast<double>(placement.threads) / warps;
}

// Whether the site counts as work. A branch does not: the lanes that take it say nothing about how
// many lanes do work.
bool works(const Site& site) { return class_of(site.form) != InstructionClass::kControl; }

double lost_lanes(const Site& site) {
  return works(site) ? kWarp * static_cast<double>(site.warp) - static_cast<double>(site.thread)
                     : 0;
}

// Returns the most lanes lost in a launch's last warp: 31, for each instruction that a warp issues.
double lost_in_tail(const Evidence& e, double issued) {
  const double warps =
      static_cast<double>(e.placement.grid) * static_cast<double>((e.placement.threads + 31) / 32);
  return warps == 0 ? 0 : (kWarp - 1) * issued / warps;
}

std::string lanes_text(double lanes) { return fmt::format("{:.2g}", lanes); }

}  // namespace

double contention_ms(const Evidence& e) {
  double shared = 0, l2 = 0;
  for (const Site& site : e.sites) {
    const SerialUpdates updates = serial_updates_of(site);
    if (updates.shared > static_cast<double>(site.memory.shared.requests)) {
      shared += updates.shared_clocks;
    }
    if (updates.l2 > static_cast<double>(site.memory.global.sectors)) l2 += updates.l2;
  }
  const auto part = [&](double updates, double all, Resource resource) {
    return all > 0 ? updates / all * ms_of(e, resource) : 0;
  };
  return std::max(part(shared, e.totals.updates.shared_clocks, Resource::kSharedAtomic),
                  part(l2, e.totals.updates.l2, Resource::kL2Atomic));
}

const Site* contended_site(const Evidence& e) {
  for (const ResourceUse& use : e.resources) {
    if (!is_of_atomics(use.resource)) continue;
    const Site* const site = largest(e.sites, [&use](const Site& s) {
      const bool is_contended = updates_in_turn(s) > static_cast<double>(requests_of(s));
      return is_contended ? use_of(s, use.resource) : 0.0;
    });
    if (site) return site;
  }
  return nullptr;
}

Found atomic_contention(const Evidence& e) {
  constexpr double kFewLanes = 2;
  const Site* const site = contended_site(e);
  if (!site) return crowded_sectors(e);
  const double lanes = per_request(updates_in_turn(*site), requests_of(*site));
  const double in_warps = contention_ms(e);
  const double ms =
      std::max(in_warps, is_in_shared_memory(*site) ? 0 : ms_of(e, Resource::kHotSector));
  const double weight = bound_ms(e) > 0 ? ms / bound_ms(e) : 0;
  if (lanes < kFewLanes || weight < kWorthAWord) return crowded_sectors(e);
  return Advice{
      std::string(kAtomicContention), std::min(1.0, weight),
      fmt::format("{} has {} of a warp's {} lanes at one address: their updates go one after "
                  "another and take {:.3g} ms at least{}.",
                  access_at(*site), number(lanes),
                  number(per_request(static_cast<double>(lanes_of(*site)), requests_of(*site))), ms,
                  ms > in_warps ? fmt::format(", {:.3g} ms if the grid's are of one address",
                                              one_address_ms(e, *site))
                                : ""),
      remedy_of(*site)};
}

Found divergence(const Evidence& e) {
  constexpr double kManyLanes = 26;
  double issued = 0, lost = 0;
  for (const Site& site : e.sites) {
    issued += works(site) ? static_cast<double>(site.warp) : 0;
    lost += lost_lanes(site);
  }
  if (e.multiplies || issued == 0 || bound_ms(e) == 0) return {};
  const double at_most = lanes_of_blocks(e.placement);
  const double busy = std::max(ms_of(e, Resource::kIssue), ms_of(e, Resource::kSpecial));
  const auto weight_of = [&](double lanes) {
    return std::clamp(lanes / (kWarp * issued) * busy / bound_ms(e), 0.0, 1.0);
  };
  if (at_most <= kManyLanes) {
    return Advice{std::string(kDivergence), weight_of((kWarp - at_most) * issued),
                  fmt::format("blocks of {} threads fill {} of a warp's 32 lanes.",
                              e.placement.threads, lanes_text(at_most)),
                  "Use blocks of a multiple of 32 threads."};
  }
  const double weight = weight_of(lost - lost_in_tail(e, issued));
  const double lanes = kWarp - lost / issued;
  if (weight < kWorthAWord || lanes > kManyLanes) return {};
  const std::vector<Site> lines = merged_by_line(e.sites);
  const Site* line = largest(lines, lost_lanes);
  return Advice{
      std::string(kDivergence), weight,
      fmt::format("{} of a warp's 32 lanes work on average, as its lanes go different ways; most "
                  "are lost at {}, where {} work.",
                  lanes_text(lanes), line->place(),
                  lanes_text(static_cast<double>(line->thread) / static_cast<double>(line->warp))),
      "Let whole warps go one way: choose by threadIdx.x / 32 rather than by threadIdx.x % 2, let "
      "the first threads of a block work (t < k in a reduction), or sort the work so that "
      "neighbours are alike."};
}

}  // namespace tessera::lab
