// Shared code for the rules of advice: shares of the bound, and words for a place.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/explain/advice/advice.h"

namespace tessera::lab {

using Found = std::optional<Advice>;

inline constexpr double kWorthAWord = 0.10;  // share of the bound; less is not worth a remark

double bound_ms(const Evidence& evidence);
double ms_of(const Evidence& evidence, Resource resource);  // 0: not used
bool is_of_atomics(Resource resource);
bool is_arithmetic(Resource resource);  // a pipe of floats, or tensor cores
// Whether the verdict names this resource.
bool is_named(const Evidence& evidence, Resource resource);

// Returns the share of the replay's time that the longest resource takes; 1 if nothing is replayed.
double busy_share(const Evidence& evidence);
// Whether the kernel mostly waits, both by the replay of the loop and by the longest resource of
// the whole launch.
bool waits(const Evidence& evidence);
// Returns the number of warps per SM that would keep the longest resource busy for most of the
// time, if twice the warps do twice the work in the same time. Returns all warps that fit if that
// number would not be enough.
double needed_warps(const Evidence& evidence);

// Returns the share of the bound that this number of wavefronts of the load/store unit takes.
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

// Whether the words between a lane's and its neighbour's are loaded by other instructions of the
// same source line.
bool is_split_vector(const Site& site);
// Returns "the load ... touches 32 sectors per request where 4 would do", or the like for
// wavefronts.
std::string sectors_text(const Site& site);

// Returns one site for all sites of a source line: if issue slots are the limit, every instruction
// of the line counts.
std::vector<Site> merged_by_line(const std::vector<Site>& sites);

}  // namespace tessera::lab
