#include "lab/explain/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

namespace tessera::lab {
namespace {

// Rules that a verdict looks for.
constexpr const char* kBankConflicts = "bank-conflicts";
constexpr const char* kScatteredAccess = "scattered-access";
constexpr const char* kScalarAccess = "scalar-access";

using Found = std::optional<Advice>;

constexpr double kWorthAWord = 0.10;  // of the bound; below that a remark would mislead

double bound_ms(const Evidence& e) { return e.resources.empty() ? 0 : e.resources.front().ms; }

double ms_of(const Evidence& e, Resource resource) {
  for (const ResourceUse& use : e.resources) {
    if (use.resource == resource) return use.ms;
  }
  return 0;
}

// What so many wavefronts of the load/store unit are of the bound.
double share_of_wavefronts(const Evidence& e, double wavefronts) {
  const double sum = e.totals.wavefronts.sum(), bound = bound_ms(e);
  return sum > 0 && bound > 0 ? wavefronts / sum * ms_of(e, Resource::kLoadStore) / bound : 0;
}

template <class Value>
const Site* largest(const std::vector<Site>& sites, Value value) {
  const Site* best = nullptr;
  for (const Site& site : sites) {
    if (value(site) > 0 && (!best || value(site) > value(*best))) best = &site;
  }
  return best;
}

std::string whole_percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// Two digits after the point at most: 32, 1.5, 0.25.
std::string number(double value) { return fmt::format("{:g}", std::round(value * 100) / 100); }

// "the load of tile_b (ld.shared.f32) at src/…/kernel.cu:28"
std::string access_at(const Site& site) {
  const bool stores = site.memory.traffic == vgpu::Traffic::kStore;
  const std::string of = site.touches.empty() ? "" : " of " + site.touches;
  return fmt::format("the {}{} ({}) at {}", stores ? "store" : "load", of, site.form, site.place());
}

std::string access_or_code(const Site& site) {
  return site.memory.traffic == vgpu::Traffic::kNone ? site.form + " at " + site.place()
                                                     : access_at(site);
}

double per_request(double value, std::uint64_t requests) {
  return requests == 0 ? 0 : value / static_cast<double>(requests);
}

// ---- rules ------------------------------------------------------------------------------------

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
  return Advice{kBankConflicts, share,
                fmt::format("{} takes {} wavefronts where {} would do: {}.", access_at(*site),
                            number(per_request(banks.wavefronts, shared.requests)),
                            number(per_request(banks.passes, shared.requests)), why),
                "Transpose the tile so that neighbouring lanes touch neighbouring words, or pad "
                "its rows by one word, or swizzle them."};
}

// Lanes whose neighbours' words are fetched by other instructions of the same line.
bool is_split_vector(const Site& site) {
  const FormClass form = classify(site.form);
  const double efficiency = site.memory.global.efficiency();
  const int width = form.bytes * site.instructions;
  return site.instructions > 1 && width <= 16 && efficiency * site.instructions > 0.99 &&
         efficiency < 0.99;
}

std::string sectors_text(const Site& site) {
  const vgpu::GlobalCounts& global = site.memory.global;
  const double ideal =
      std::max(1.0, per_request(static_cast<double>(global.distinct_bytes), global.requests) /
                        vgpu::kSectorBytes);
  if (global.sectors_per_request() < 1.01 * ideal) {
    const Wavefronts wavefronts = wavefronts_of(site);
    return fmt::format(
        "{} takes {} wavefronts per request where {} would do", access_at(site),
        number(per_request(wavefronts.global + wavefronts.scattered, global.requests)),
        number(per_request(wavefronts.global, global.requests)));
  }
  return fmt::format("{} touches {} sectors per request where {} would do", access_at(site),
                     number(global.sectors_per_request()), number(ideal));
}

Found scattered_access(const Evidence& e) {
  const auto scattered = [](const Site& s) {
    return is_split_vector(s) ? 0.0 : wavefronts_of(s).scattered;
  };
  double sum = 0;
  for (const Site& site : e.sites) sum += scattered(site);
  const double share = share_of_wavefronts(e, sum);
  const Site* site = largest(e.sites, scattered);
  if (share < kWorthAWord || !site) return {};
  return Advice{kScatteredAccess, share,
                sectors_text(*site) + ": neighbouring lanes are in different lines.",
                "Let the lane index walk the dimension that is contiguous in memory, or stage a "
                "tile in shared memory and transpose it there."};
}

Found scalar_access(const Evidence& e) {
  const auto scalar = [](const Site& s) {
    return is_split_vector(s) ? wavefronts_of(s).scattered : 0.0;
  };
  double sum = 0;
  for (const Site& site : e.sites) sum += scalar(site);
  const double share = share_of_wavefronts(e, sum);
  const Site* site = largest(e.sites, scalar);
  if (share < kWorthAWord || !site) return {};
  return Advice{kScalarAccess, share,
                fmt::format("{}: each lane loads {} neighbouring words one by one.",
                            sectors_text(*site), site->instructions),
                fmt::format("Move them in one access of {} bits where base and stride allow it.",
                            8 * classify(site->form).bytes * site->instructions)};
}

Found shared_traffic(const Evidence& e) {
  const double share = share_of_wavefronts(e, e.totals.wavefronts.shared);
  const bool is_far = ms_of(e, Resource::kLoadStore) < 0.8 * bound_ms(e);
  if (share < 0.4 || is_far || e.totals.shared_loads == 0 || e.totals.fma() == 0) return {};
  const Site* site = largest(e.sites, [](const Site& s) { return wavefronts_of(s).shared; });
  return Advice{"shared-traffic", share,
                fmt::format("{} FMAs per shared load; {} alone takes {} of the load/store "
                            "unit's wavefronts.",
                            number(e.totals.fma() / e.totals.shared_loads), access_at(*site),
                            whole_percent(wavefronts_of(*site).shared / e.totals.wavefronts.sum())),
                "Let a thread compute a larger tile of outputs: rm x rn of them need "
                "(1/rm + 1/rn) words per step, and loads of 128 bits move four at once."};
}

Found no_sharing(const Evidence& e) {
  const double multiplies = e.totals.fma();
  if (multiplies == 0 || e.totals.shared_loads > 0 || bound_ms(e) == 0) return {};
  const double requests = e.totals.global_requests / multiplies;
  if (requests < 1) return {};
  const double share = std::min(1.0, ms_of(e, Resource::kLoadStore) / bound_ms(e));
  return Advice{"no-sharing", share * 0.5,
                fmt::format("each FMA asks global memory {} times: every operand word is loaded, "
                            "used once and dropped.",
                            number(requests)),
                "Stage tiles in shared memory, or keep several outputs per thread, so that a word "
                "feeds more than one FMA."};
}

Found few_warps(const Evidence& e) {
  const Placement& r = e.placement;
  if (r.ctas == 0 || r.max_warps == 0) return {};
  const double full = static_cast<double>(r.warps) / r.max_warps;
  const bool alone = r.ctas == 1 && e.totals.barriers > 0;
  if (full > 0.25 && !alone) return {};
  const std::string why = r.limited_by.empty() ? "" : fmt::format(" (limit: {})", r.limited_by);
  const double weight = e.replay.waits ? 0.9 : alone ? 0.15 : 0.12;
  return Advice{
      "few-warps", weight,
      alone ? fmt::format("one block of {} threads fills an SM{}: while it waits at a barrier "
                          "no other warp works.",
                          r.threads, why)
            : fmt::format("{} of {} warps fit on an SM{}: little is left to hide waiting.", r.warps,
                          r.max_warps, why),
      alone ? "Use smaller blocks, so that two or more fit on an SM."
            : "Load ahead (double buffer, asynchronous copies) so that few warps are enough, or "
              "use fewer registers per thread and bytes per block."};
}

Found barriers(const Evidence& e) {
  const double multiplies = e.totals.multiplies();
  if (e.totals.barriers == 0 || multiplies == 0) return {};
  const double between = multiplies / e.totals.barriers;
  if (between >= 64) return {};
  return Advice{"barriers", e.replay.waits ? 0.8 : 0.11,
                fmt::format("a warp waits at a barrier every {} multiplies.", number(between)),
                "Use a deeper tile, more outputs per thread, or a second buffer, which needs only "
                "one barrier per tile."};
}

Found issue_overhead(const Evidence& e) {
  const double issue = ms_of(e, Resource::kIssue), bound = bound_ms(e);
  const double multiplies = e.totals.multiplies();
  if (bound == 0 || issue < 0.8 * bound || multiplies == 0) return {};
  const double useful = multiplies / e.totals.warp_instructions;
  if (useful > 0.9) return {};
  return Advice{"issue-overhead", (1 - useful) * issue / bound,
                fmt::format("{} of the issued instructions multiply; the others move data, compute "
                            "addresses and loop.",
                            whole_percent(useful)),
                "Unroll, keep addresses in registers and steps constant, and give a thread more "
                "outputs per load."};
}

Found at_the_pipe(const Evidence& e) {
  if (e.resources.empty()) return {};
  const Resource top = e.resources.front().resource;
  if (top != Resource::kFma && top != Resource::kMatrix) return {};
  return Advice{"arithmetic", 1,
                fmt::format("the {} would be busy all the time: this is what a multiplication "
                            "should be limited by.",
                            e.resources.front().name),
                "What is left is to hide latency and to keep the clock up."};
}

Found memory_bound(const Evidence& e) {
  if (e.resources.empty() || e.resources.front().resource != Resource::kDram) return {};
  return Advice{"device-memory", 1,
                "moving each operand once takes longer than multiplying: the problem is too thin "
                "for its bytes.",
                "Only fewer bytes help: a narrower type, or several products of the same operand "
                "at once."};
}

Found spills(const Evidence& e) {
  const Site* site =
      largest(e.sites, [](const Site& s) { return static_cast<double>(s.memory.local.requests); });
  if (!site || e.totals.local_requests < kWorthAWord * e.totals.warp_instructions) return {};
  return Advice{"local-memory", e.totals.local_requests / e.totals.warp_instructions,
                fmt::format("{} goes to local memory.", access_at(*site)),
                "Index arrays with constants after unrolling, so that they stay in registers."};
}

// ---- verdict ----------------------------------------------------------------------------------

// What wavefronts of the load/store unit are spent on, how that is called, and which advice is
// about it.
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

// The sites of each line as one: where issue slots are short, every instruction of it counts.
std::vector<Site> merged_by_line(const std::vector<Site>& sites) {
  std::vector<Site> lines;
  std::map<std::string, std::pair<std::size_t, std::uint64_t>> known;  // index, largest part
  for (const Site& site : sites) {
    const auto [at, is_new] = known.try_emplace(site.place(), lines.size(), site.warp);
    if (is_new) {
      lines.push_back(site);
      continue;
    }
    Site& line = lines[at->second.first];
    std::uint64_t& most = at->second.second;
    if (site.warp > most) line.form = site.form;
    most = std::max(most, site.warp);
    line.instructions += site.instructions;
    line.warp += site.warp;
    line.thread += site.thread;
    line.memory += site.memory;
    line.via.clear();
    line.touches.clear();
  }
  return lines;
}

// Parts that the replay knows and the table of rates does not.
std::string name_of_replayed(const Replay& replay) {
  if (!replay.known) return {};
  if (replay.waits) return "waiting";
  if (replay.busiest == "L2") return "L2 traffic";
  return replay.busiest == "ALU" ? "integer instructions" : "";
}

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

std::vector<Advice> advise(const Evidence& evidence) {
  std::vector<Advice> list;
  for (const auto rule :
       {bank_conflicts, scattered_access, scalar_access, shared_traffic, no_sharing, few_warps,
        barriers, issue_overhead, at_the_pipe, memory_bound, spills}) {
    if (Found found = rule(evidence)) list.push_back(*std::move(found));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Advice& a, const Advice& b) { return a.weight > b.weight; });
  return list;
}

std::string limited_by(const Evidence& evidence) {
  if (evidence.resources.empty()) return "nothing";
  if (!evidence.totals.unrated_matrix.empty()) return "unknown";
  if (const std::string name = name_of_replayed(evidence.replay); !name.empty()) return name;
  const ResourceUse& top = evidence.resources.front();
  return top.resource == Resource::kLoadStore ? name_of(most_of(evidence.totals.wavefronts))
                                              : top.name;
}

std::vector<Site> by_cost(const Evidence& evidence) {
  if (evidence.resources.empty()) return {};
  const Resource top = named_resource(evidence.resources).resource;
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
  const ResourceUse& top = named_resource(evidence.resources);
  const std::string what = capitalised(limited_by(evidence));
  const std::string share = whole_percent(use_of(sites.front(), top.resource) / top.amount);
  const Replay& replay = evidence.replay;
  if (!name_of_replayed(replay).empty()) {
    const std::string busy = whole_percent(std::min(1.0, replay.busy_ms / replay.ms));
    const char* const time =
        replay.fills_the_gpu ? "the predicted time" : "the time of full SMs (these are not)";
    if (!replay.waits) {
      return fmt::format("{}: the {} is busy for {} of {}.", what, replay.busiest, busy, time);
    }
    return fmt::format(
        "{}: even the busiest part, {}, works only {} of {}; the "
        "rest are latencies and barriers that too few warps hide.",
        what, replay.busiest, busy, time);
  }
  const bool of_wavefronts = top.resource == Resource::kLoadStore;
  for (const Advice& advice : advise(evidence)) {
    if (!of_wavefronts || !says_where(advice.rule, most_of(evidence.totals.wavefronts))) continue;
    return fmt::format("{}: {} ({} of the load/store unit's wavefronts).", what,
                       advice.sentence.substr(0, advice.sentence.size() - 1), share);
  }
  if (top.resource == Resource::kIssue) {
    return fmt::format(
        "{}: {} of the issued instructions multiply; {} of all are in {}.", what,
        whole_percent(evidence.totals.multiplies() / evidence.totals.warp_instructions), share,
        sites.front().place());
  }
  return fmt::format("{}: the largest part, {} of {}, is {}.", what, share,
                     of_wavefronts ? "the load/store unit's wavefronts" : "the " + top.unit,
                     access_or_code(sites.front()));
}

}  // namespace tessera::lab
