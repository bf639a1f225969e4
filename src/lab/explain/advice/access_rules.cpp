// Rules about single accesses: the cost of a warp's addresses.
#include "lab/explain/advice/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::lab {
namespace {

constexpr const char* kConflictsInTiles =
    "Transpose the tile so that neighbouring lanes touch neighbouring words, or pad its rows by "
    "{0}, or swizzle them{1}.";
constexpr const char* kConflicts =
    "Let neighbouring lanes touch neighbouring words (in a reduction: the first k threads, each a "
    "word k further on); where lanes read a column of a tile, pad its rows by {0}, or swizzle "
    "them{1}.";
constexpr const char* kScatteredInMatrices =
    "Let the lane index walk the dimension that is contiguous in memory, or stage a tile in "
    "shared memory and transpose it there.";
constexpr const char* kScattered =
    "Let neighbouring lanes touch neighbouring words: put the lane index on the dimension that is "
    "contiguous in memory, or make a struct of arrays of an array of structs. Where a lane needs "
    "a whole struct, load it as one vector (float4); else stage a tile in shared memory and read "
    "it there.";

bool is_fragment(const Site& site) {
  return site.form.starts_with("ldmatrix") || site.form.starts_with("stmatrix") ||
         site.form.starts_with("wmma");
}

// Returns the number of bytes to which rows of the site's array must stay aligned, so that all
// accesses to the array remain legal.
int alignment_of_rows(const Evidence& e, const Site& site) {
  constexpr int kFragmentRow = 16;  // PTX: rows of ldmatrix; the leading dimension of wmma
  int most = 4;
  for (const Site& other : e.sites) {
    const vgpu::SharedCounts& shared = other.memory.shared;
    const bool is_same =
        &other == &site || (!site.touches.empty() && other.touches == site.touches);
    if (!is_same || shared.lanes == 0) continue;
    const auto bytes = static_cast<int>(shared.requested_bytes / shared.lanes);
    most = std::max(most, is_fragment(other) ? kFragmentRow : std::min(bytes, kFragmentRow));
  }
  return most;
}

// Returns the remedy for bank conflicts. If accesses are wide, or load fragments, rows must stay
// aligned, so padding by one word is not enough.
std::string conflict_cure(const Evidence& e, const Site& site) {
  const int bytes = alignment_of_rows(e, site);
  const bool is_wide = bytes > 4;
  const std::string pad = is_wide ? fmt::format("{} bytes", bytes) : "one word";
  const std::string rule =
      !is_wide ? ""
               : fmt::format(
                     " in pieces of {0} bytes: {1} need rows that begin at multiples of {0} "
                     "bytes{2}",
                     bytes, is_fragment(site) ? "loads of fragments" : "its wide accesses",
                     site.form.starts_with("wmma") ? ", and matrices at multiples of 32" : "");
  return fmt::format(fmt::runtime(e.multiplies ? kConflictsInTiles : kConflicts), pad, rule);
}

// Returns the number of sectors that requested bytes fill: bytes of this site and adjacent bytes of
// other source lines. Loads of a struct's fields, one by one, fill their sectors together.
double sectors_needed(const Site& site) {
  const vgpu::GlobalCounts& global = site.memory.global;
  const int own = classify(site.form).bytes;
  const double beside = own == 0 ? 1 : std::max(1.0, static_cast<double>(site.bytes_beside) / own);
  const double bytes = beside * static_cast<double>(global.distinct_bytes);
  return std::clamp(
      bytes / vgpu::kSectorBytes, static_cast<double>(global.requests),
      std::max(static_cast<double>(global.requests), static_cast<double>(global.sectors)));
}

// Whether this site's own bytes fill only a part of its sectors, while other source lines load all
// the rest.
bool has_partners(const Site& site) {
  return site.memory.global.efficiency() < 0.99 &&
         sectors_needed(site) > 0.99 * static_cast<double>(site.memory.global.sectors) &&
         site.memory.global.sectors > site.memory.global.requests;
}

// Returns the number of sectors that the site touches in addition to sectors_needed().
double wasted_sectors(const Site& site) {
  const vgpu::Traffic traffic = site.memory.traffic;
  const bool counts = traffic == vgpu::Traffic::kLoad || traffic == vgpu::Traffic::kStore;
  if (!counts || is_split_vector(site)) return 0;
  return static_cast<double>(site.memory.global.sectors) - sectors_needed(site);
}

// Whether each request takes at most one sector more than needed, because its first word is inside
// a sector.
bool is_misaligned(const Site& site) {
  const auto requests = static_cast<double>(site.memory.global.requests);
  return sectors_needed(site) > 1.5 * requests &&
         static_cast<double>(site.memory.global.sectors) - sectors_needed(site) < 1.01 * requests;
}

// Returns the distance between the lanes of one site in words, as far as its sectors show it.
std::string distance_text(const Site& site) {
  const vgpu::GlobalCounts& global = site.memory.global;
  const double bytes =
      static_cast<double>(global.sector_bytes()) / static_cast<double>(global.lanes);
  return bytes > 31 ? "32 bytes or more" : fmt::format("about {:.0f} bytes", bytes);
}

// Returns a lower bound of the share of bytes moved by device memory that no lane requests.
double never_asked(const Evidence& e) {
  const double moved = e.totals.footprint_bytes;
  return moved > 0 ? std::max(0.0, 1 - e.totals.distinct_bytes / moved) : 0;
}

bool waits_for_bytes(const Evidence& e) {
  return is_named(e, Resource::kDram) || is_named(e, Resource::kL2);
}

}  // namespace

Found bank_conflicts(const Evidence& e) {
  const double share = share_of_wavefronts(e, e.totals.wavefronts.conflicts);
  const Site* site = largest(e.sites, [](const Site& s) { return wavefronts_of(s).conflicts; });
  if (share < kWorthAWord || !site) return {};
  const vgpu::SharedCounts& shared = site->memory.shared;
  const vgpu::BankCounts& banks = banks_of(shared);
  const double ways = static_cast<double>(banks.wavefronts) / static_cast<double>(banks.passes);
  const double lanes_step = std::round(ways);
  std::string why = "lanes of a warp want different words of one bank";
  if (classify(site->form).bytes == 4 && std::abs(ways - lanes_step) < 0.01) {
    why += fmt::format(", as they do if neighbouring lanes are {:g} words apart", lanes_step);
  }
  return Advice{std::string(kBankConflicts), share,
                fmt::format("{} takes {} wavefronts where {} would do: {}.", access_at(*site),
                            number(per_request(banks.wavefronts, shared.requests)),
                            number(per_request(banks.passes, shared.requests)), why),
                conflict_cure(e, *site)};
}

Found scattered_access(const Evidence& e) {
  if (uncoalesced_access(e)) return {};  // that rule reports it already
  const bool says_misaligned = misaligned_access(e).has_value();
  const auto scattered = [&](const Site& s) {
    const bool is_split = is_split_vector(s) || (!e.multiplies && has_partners(s));
    const bool is_said = is_split || (says_misaligned && is_misaligned(s));
    return is_said ? 0.0 : wavefronts_of(s).scattered;
  };
  double sum = 0;
  for (const Site& site : e.sites) sum += scattered(site);
  const double share = share_of_wavefronts(e, sum);
  const Site* site = largest(e.sites, scattered);
  if (share < kWorthAWord || !site) return {};
  return Advice{std::string(kScatteredAccess), share,
                sectors_text(*site) + ": neighbouring lanes are in different lines.",
                e.multiplies ? kScatteredInMatrices : kScattered};
}

Found scalar_access(const Evidence& e) {
  const auto scalar = [&e](const Site& s) {
    const bool is_split = is_split_vector(s) || (!e.multiplies && has_partners(s));
    return is_split ? wavefronts_of(s).scattered : 0.0;
  };
  double sum = 0;
  for (const Site& site : e.sites) sum += scalar(site);
  const double share = share_of_wavefronts(e, sum);
  const Site* site = largest(e.sites, scalar);
  if (share < kWorthAWord || !site) return {};
  const bool stores = site->memory.traffic == vgpu::Traffic::kStore;
  if (!is_split_vector(*site)) {
    return Advice{std::string(kScalarAccess), share,
                  fmt::format("{}: other lines {} the rest of the same sectors, word by word.",
                              sectors_text(*site), stores ? "store" : "load"),
                  "Move a whole struct in one access of 128 bits (float4) where it is aligned to "
                  "16 bytes, or make a struct of arrays of it."};
  }
  return Advice{std::string(kScalarAccess), share,
                fmt::format("{}: each lane {} {} neighbouring words one by one.",
                            sectors_text(*site), stores ? "stores" : "loads", site->instructions),
                fmt::format("Move them in one access of {} bits where base and stride allow it.",
                            8 * classify(site->form).bytes * site->instructions)};
}

Found uncoalesced_access(const Evidence& e) {
  if (e.multiplies || !waits_for_bytes(e)) return {};
  const auto wasted = [](const Site& site) {
    return is_misaligned(site) ? 0.0 : wasted_sectors(site);
  };
  double sum = 0;
  for (const Site& site : e.sites) sum += wasted(site);
  const Site* site = largest(e.sites, wasted);
  if (!site) return {};
  const double share = sum * vgpu::kSectorBytes / e.totals.sector_bytes, never = never_asked(e);
  // WHY only half of `share`: a later request may find the rest of a sector in a cache.
  const double weight = std::max(std::min(share, never), share < 0.5 ? 0.0 : share / 2);
  if (weight < kWorthAWord) return {};
  const std::string rest =
      never < kWorthAWord
          ? "the other words of the sectors are of use only if a cache keeps them until they are "
            "asked for"
          : fmt::format("no lane asks for {} of the bytes that device memory moves",
                        whole_percent(never));
  return Advice{std::string(kUncoalescedAccess), weight,
                fmt::format("{}: neighbouring lanes are {} apart, and {}.", sectors_text(*site),
                            distance_text(*site), rest),
                kScattered};
}

Found misaligned_access(const Evidence& e) {
  if (e.multiplies || !waits_for_bytes(e) || uncoalesced_access(e)) return {};
  const auto wasted = [](const Site& site) {
    return is_misaligned(site) ? wasted_sectors(site) : 0.0;
  };
  double sum = 0;
  for (const Site& site : e.sites) sum += wasted(site);
  const Site* site = largest(e.sites, wasted);
  if (!site || sum * vgpu::kSectorBytes < kWorthAWord * e.totals.sector_bytes) return {};
  return Advice{"misaligned-access", kWorthAWord,
                sectors_text(*site) +
                    ": it begins inside a sector. The next warp asks for the rest of the last one, "
                    "so that a cache can serve it and device memory moves hardly more.",
                "Let rows begin at multiples of 32 bytes (cudaMallocPitch does that); an offset "
                "that is part of the task costs little."};
}

Found spills(const Evidence& e) {
  const Site* site =
      largest(e.sites, [](const Site& s) { return static_cast<double>(s.memory.local.requests); });
  if (!site || e.totals.local_requests < kWorthAWord * e.totals.warp_instructions) return {};
  return Advice{"local-memory", e.totals.local_requests / e.totals.warp_instructions,
                fmt::format("{} goes to local memory.", access_at(*site)),
                "Index arrays with constants after unrolling, so that they stay in registers."};
}

}  // namespace tessera::lab
