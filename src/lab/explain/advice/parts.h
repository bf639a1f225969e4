// Shared code of the advice rules: shares of the bound (the longest resource's time), and texts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/explain/advice/advice.h"

namespace tessera::lab {

using Found = std::optional<Advice>;

inline constexpr double kWorthAWord = 0.10;  // share of the bound; a smaller one gets no advice

double bound_ms(const Evidence& evidence);
double ms_of(const Evidence& evidence, Resource resource);  // 0: not used
bool is_of_atomics(Resource resource);
bool is_arithmetic(Resource resource);  // a floating-point pipe, or tensor cores
// Whether the verdict names this resource.
bool is_named(const Evidence& evidence, Resource resource);

// Returns the share of the replay's time that the longest resource takes; 1 if nothing is replayed.
double busy_share(const Evidence& evidence);
// Whether the kernel mostly waits: in the replay no unit is busy for most of the loop's time, and
// the longest resource of the whole launch does not take most of the replay's time.
bool waits(const Evidence& evidence);
// Returns the number of warps per SM that would keep the longest resource busy for most of the
// time, if twice the warps did twice the work in the same time. Returns at most the number of warps
// that fit.
double needed_warps(const Evidence& evidence);

// Returns the share of the bound that this number of the load/store unit's wavefronts takes.
double share_of_wavefronts(const Evidence& evidence, double wavefronts);

template <class Value>
const Site* largest(const std::vector<Site>& sites, Value value) {
  const Site* best = nullptr;
  for (const Site& site : sites) {
    if (value(site) > 0 && (!best || value(site) > value(*best))) best = &site;
  }
  return best;
}

std::string whole_percent(double share);  // "32 %"
std::string number(double value);         // with two decimals at most: 32, 1.5, 0.25
std::string grouped(double whole);        // "32,768"
std::string capitalised(std::string text);
std::string without_stop(std::string sentence);

double per_request(double value, std::uint64_t requests);

// Returns "the load of tile_b (ld.shared.f32) at src/…/kernel.cu:28".
std::string access_at(const Site& site);
std::string access_or_code(const Site& site);

// Whether the words of a request have gaps between neighbouring lanes, and the site's other
// instructions, in the same source line, load the words in the gaps.
bool is_split_vector(const Site& site);
// Returns "the load ... touches 32 sectors per request where 4 would do". If only the wavefronts
// exceed their minimum, names wavefronts instead of sectors.
std::string sectors_text(const Site& site);

// Returns one site per source line, the sum of all sites of the line. Used if issue slots are the
// limit, because then every instruction of a line counts.
std::vector<Site> merged_by_line(const std::vector<Site>& sites);

}  // namespace tessera::lab
