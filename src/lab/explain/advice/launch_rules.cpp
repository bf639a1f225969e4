// Rules on how full the GPU is.
#include "lab/explain/advice/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::lab {

Found few_warps(const Evidence& e) {
  const Placement& r = e.placement;
  if (r.ctas == 0 || r.max_warps == 0) return {};
  const double full = static_cast<double>(r.warps) / r.max_warps;
  const bool alone = r.ctas == 1 && e.totals.barriers > 0;
  constexpr double kNearlyAll = 0.9;
  const bool is_short = waits(e) && r.warps < kNearlyAll * needed_warps(e);
  if (full > 0.25 && !alone && !is_short) return {};
  const std::string why = r.limited_by.empty() ? "" : fmt::format(" (limit: {})", r.limited_by);
  const double weight = waits(e) ? 0.9 : alone ? 0.15 : 0.12;
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

Found short_blocks(const Evidence& e) {
  const Placement& r = e.placement;
  if (!waits(e) || r.ctas == 0 || e.replay.rest.empty()) return {};
  const UnitTime& most = e.replay.rest.front();
  if (most.name != kFilling) return {};
  return Advice{
      "short-blocks", 0.9,
      fmt::format("{} blocks come {} at a time, and {} takes {} of the predicted time.",
                  grouped(static_cast<double>(r.grid)),
                  grouped(static_cast<double>(r.ctas) * r.sms), kFilling,
                  whole_percent(most.ms / e.replay.predicted_ms)),
      "Give a block the work of several, in a loop, so that all blocks fit on the GPU at once and "
      "the loads of one piece of work overlap the stores of the one before."};
}

Found small_launch(const Evidence& e) {
  const Placement& r = e.placement;
  if (e.launch_share == 0 || r.sms == 0) return {};
  const double empty = 1 - static_cast<double>(r.grid) / r.sms;
  if (empty <= 0 && e.launch_share < 0.5) return {};
  const bool is_all = e.launch_share >= 0.9;
  const std::string starting =
      fmt::format("starting it takes {} of the predicted time", whole_percent(e.launch_share));
  return Advice{std::string(kSmallLaunch), is_all ? 1 : std::max(empty, e.launch_share / 4),
                empty <= 0
                    ? starting + "."
                    : fmt::format("{} block{} for {} SMs leave{} at least {} of them empty, "
                                  "and {}.",
                                  r.grid, r.grid == 1 ? "" : "s", r.sms, r.grid == 1 ? "s" : "",
                                  r.sms - static_cast<int>(r.grid), starting),
                "Explain a launch of the size that is used in earnest. If this is it: more blocks, "
                "or the work of several launches in one."};
}

}  // namespace tessera::lab
