// Rules for kernels that multiply matrices.
#include "lab/explain/advice/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::lab {

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

Found barriers(const Evidence& e) {
  const double multiplies = e.totals.multiplies();
  if (e.totals.barriers == 0 || multiplies == 0) return {};
  const double between = multiplies / e.totals.barriers;
  if (between >= 64) return {};
  return Advice{"barriers", waits(e) ? 0.8 : 0.11,
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
  if (!is_arithmetic(top)) return {};
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

}  // namespace tessera::lab
