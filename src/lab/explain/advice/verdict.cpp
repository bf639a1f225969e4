// One sentence on what limits a kernel.
#include <fmt/format.h>

#include <algorithm>

#include "lab/explain/advice/rules.h"

namespace tessera::lab {
namespace {

// The kinds of wavefronts of the load/store unit. The verdict names the kind with most wavefronts.
enum class WavefrontsOf { kConflicts, kShared, kScattered, kGlobal };

WavefrontsOf most_of(const Wavefronts& wavefronts) {
  const std::pair<double, WavefrontsOf> parts[] = {{wavefronts.conflicts, WavefrontsOf::kConflicts},
                                                   {wavefronts.shared, WavefrontsOf::kShared},
                                                   {wavefronts.scattered, WavefrontsOf::kScattered},
                                                   {wavefronts.global, WavefrontsOf::kGlobal}};
  return std::max_element(std::begin(parts), std::end(parts),
                          [](const auto& a, const auto& b) { return a.first < b.first; })
      ->second;
}

std::string name_of(WavefrontsOf wavefronts) {
  switch (wavefronts) {
    case WavefrontsOf::kConflicts:
      return "bank conflicts";
    case WavefrontsOf::kShared:
      return "shared-memory accesses";
    case WavefrontsOf::kScattered:
      return "scattered global accesses";
    case WavefrontsOf::kGlobal:
      return "global accesses";
  }
  return {};
}

// Whether advice by this rule names the place where the wavefronts are spent.
bool says_where(std::string_view rule, WavefrontsOf wavefronts) {
  if (wavefronts == WavefrontsOf::kConflicts) return rule == kBankConflicts;
  return wavefronts == WavefrontsOf::kScattered &&
         (rule == kScatteredAccess || rule == kScalarAccess);
}

// Whether the resource is known only from the replay, not from the table of rates.
bool is_replayed(const ResourceUse& use) {
  return use.resource == Resource::kL2 || use.resource == Resource::kAlu;
}

const Advice* find(const std::vector<Advice>& list, std::string_view rule) {
  const auto at = std::ranges::find(list, rule, &Advice::rule);
  return at == list.end() ? nullptr : &*at;
}

// Returns the advice on atomics on one address if their updates take longest of all resources:
// either the updates of all sites together, or the site that uses the longest resource most.
const Advice* leading_atomics(const Evidence& e, const std::vector<Advice>& list) {
  constexpr double kAll = 1 - 1e-9;  // but for rounding
  const Resource top = e.resources.front().resource;
  const Advice* const atomics = find(list, kAtomicContention);
  if (!is_of_atomics(top) || !atomics) return nullptr;
  if (atomics->weight >= kAll) return atomics;
  const Site* const site = contended_site(e);
  const Site* const first = largest(e.sites, [top](const Site& s) { return use_of(s, top); });
  return site && site == first ? atomics : nullptr;
}

// Returns a sentence on the longest resource other than atomics.
std::string of_what_else(const Evidence& e) {
  for (const ResourceUse& use : e.resources) {
    if (is_of_atomics(use.resource)) continue;
    return fmt::format("; of all else, {} would take longest.", use.name);
  }
  return ".";
}

std::string busy_text(const Evidence& e) {
  if (!e.replay.fills_the_gpu) {
    return whole_percent(busy_share(e)) + " of the time of full SMs (these are not)";
  }
  return whole_percent(bound_ms(e) / e.replay.predicted_ms) + " of the predicted time";
}

// Returns why nothing hides the latencies. Too few warps is a reason only if more warps would hide
// them.
std::string unhidden_text(const Evidence& e) {
  const Placement& r = e.placement;
  if (r.ctas == 0) return kUnhidden;
  const std::string warps = fmt::format("{} of {}", r.warps, r.max_warps);
  const bool are_few = few_warps(e) && r.warps < needed_warps(e);
  return kUnhidden + (are_few ? " that too few warps hide (" + warps + " on an SM)"
                              : " that " + warps + " warps on an SM do not hide");
}

std::string waiting_text(const Evidence& e) {
  const std::string text = fmt::format("even the busiest part ({}) works only {}",
                                       e.resources.front().name, busy_text(e));
  if (e.replay.rest.empty()) return text + ".";
  const UnitTime& most = e.replay.rest.front();
  const bool is_all = e.replay.rest.size() == 1;
  return fmt::format("{}; {} {}.", text, is_all ? "the rest is" : "most of the rest is",
                     most.name == kUnhidden ? unhidden_text(e) : most.name);
}

// Returns the advice on what the longest resource is mostly used for; the advice names the place.
const Advice* about(const Evidence& e, const ResourceUse& top, const std::vector<Advice>& list) {
  for (const Advice& advice : list) {
    const bool of_wavefronts = top.resource == Resource::kLoadStore &&
                               says_where(advice.rule, most_of(e.totals.wavefronts));
    const bool of_bytes = top.resource == Resource::kDram && advice.rule == kUncoalescedAccess;
    if (of_wavefronts || of_bytes) return &advice;
  }
  return nullptr;
}

std::string named_text(const Evidence& e, const std::vector<Site>& sites,
                       const std::vector<Advice>& list) {
  const ResourceUse& top = e.resources.front();
  const std::string share =
      whole_percent(use_of(sites.front(), top.resource) / use_of_all(e.totals, top));
  const std::string unit = shared_unit(top);
  if (const Advice* const advice = about(e, top, list)) {
    return fmt::format("{} ({} of {}).", without_stop(advice->sentence), share, unit);
  }
  if (top.resource == Resource::kIssue) {
    const std::string what =
        e.multiplies ? whole_percent(e.totals.multiplies() / e.totals.warp_instructions) +
                           " of the issued instructions multiply"
                     : mix_of(e);
    return fmt::format("{}; {} of all are in {}.", what, share, sites.front().place());
  }
  const Advice* const memory = e.multiplies ? nullptr : find(list, kDeviceMemory);
  return fmt::format("{}the largest part, {} of {}, is {}.",
                     memory ? without_stop(memory->sentence) + "; " : "", share, unit,
                     access_or_code(sites.front()));
}

// Returns remarks that hold whichever resource is the longest.
std::string besides(const Evidence& e, const std::vector<Advice>& list) {
  constexpr double kMuch = 0.25, kNearlyAll = 0.9;
  std::string text;
  const Advice* const divergence = find(list, kDivergence);
  if (divergence && divergence->weight >= kMuch) text += " Besides, " + divergence->sentence;
  const Advice* const small = find(list, kSmallLaunch);
  const bool is_tiny = e.placement.grid < static_cast<std::uint64_t>(e.placement.sms) ||
                       e.launch_share >= kNearlyAll;
  if (small && is_tiny) {
    text += " This launch is too small for that to show: " + small->sentence;
  }
  return text;
}

}  // namespace

std::string limited_by(const Evidence& evidence) {
  if (evidence.resources.empty()) return "nothing";
  if (!evidence.totals.unrated_matrix.empty()) return "unknown";
  if (leading_atomics(evidence, advise(evidence))) return "atomics on one address";
  if (waits(evidence)) return "waiting";
  const ResourceUse& top = evidence.resources.front();
  if (top.resource == Resource::kL2) return "L2 traffic";
  if (top.resource == Resource::kAlu) return "integer instructions";
  return top.resource == Resource::kLoadStore ? name_of(most_of(evidence.totals.wavefronts))
                                              : top.name;
}

std::vector<Site> by_cost(const Evidence& evidence) {
  if (evidence.resources.empty()) return {};
  const Resource top = evidence.resources.front().resource;
  std::vector<Site> sites;
  const bool by_line = top == Resource::kIssue;
  for (const Site& site : by_line ? merged_by_line(evidence.sites) : evidence.sites) {
    if (use_of(site, top) > 0) sites.push_back(site);
  }
  std::stable_sort(sites.begin(), sites.end(),
                   [top](const Site& a, const Site& b) { return use_of(a, top) > use_of(b, top); });
  return sites;
}

std::string verdict(const Evidence& evidence) {
  const std::vector<Site> sites = by_cost(evidence);
  if (sites.empty()) return "Nothing was counted.";
  if (const std::string& form = evidence.totals.unrated_matrix; !form.empty()) {
    return fmt::format("What limits it is not said: no rate of the tensor cores is known for {}.",
                       form);
  }
  const std::vector<Advice> list = advise(evidence);
  const std::string what = capitalised(limited_by(evidence)) + ": ";
  if (const Advice* const atomics = leading_atomics(evidence, list)) {
    return what + without_stop(atomics->sentence) + of_what_else(evidence) +
           besides(evidence, list);
  }
  const ResourceUse& top = evidence.resources.front();
  std::string text;
  if (waits(evidence)) {
    text = waiting_text(evidence);
  } else if (is_replayed(top)) {
    text = fmt::format("{}, is busy for {}.", top.name, busy_text(evidence));
  } else {
    text = named_text(evidence, sites, list);
  }
  return what + text + besides(evidence, list);
}

}  // namespace tessera::lab
