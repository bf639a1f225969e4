// What the families that walk a stream-K schedule share: the schedule within the limit of the
// workspace, the steps, and how a plan is printed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gemm/families/shared/family.h"
#include "gemm/steps/reduce.h"
#include "kernels/schedule/stream_k.h"

namespace tessera::gemm {

inline std::string tiles_text(int count) {
  return std::to_string(count) + (count == 1 ? " tile" : " tiles");
}

// "1848 tiles, 200 tiles split in 264 runs"
inline std::string schedule_text(const schedule::StreamK& s) {
  const std::string whole = s.whole_tiles == 0 ? "" : tiles_text(s.whole_tiles);
  if (s.split_tiles() == 0) return whole;
  return whole + (whole.empty() ? "" : ", ") + tiles_text(s.split_tiles()) + " split in " +
         std::to_string(s.runs) + " runs";
}

class StreamKDecision final : public Decision {
 public:
  explicit StreamKDecision(const schedule::StreamK& chosen) : schedule(chosen) {}

  std::string text() const override { return schedule_text(schedule); }

  schedule::StreamK schedule;
};

inline std::int64_t partials_bytes(const KernelRow& row, const schedule::StreamK& schedule,
                                   int sum_bytes) {
  return schedule::slots_of(schedule) * row.block.m * row.block.n * sum_bytes;
}

// The schedule of `by_policy(split)` that the options ask for or, where its partials do not fit the
// workspace, that of whole tiles.
template <class ByPolicy>
Scheduled scheduled_within(const Request& request, const KernelRow& row, int sum_bytes,
                           ByPolicy&& by_policy) {
  Scheduled best = by_policy(request.options.split);
  const bool fits =
      partials_bytes(row, best.schedule, sum_bytes) <= request.options.workspace_limit;
  return fits ? best : by_policy(Policy::kNever);
}

// The offer of a row that walks a schedule, and whose one temp holds the partials.
inline Offer stream_k_offer(const Kernel& kernel, const KernelRow& row, const Scheduled& scheduled,
                            int sum_bytes) {
  return {.kernel = &kernel,
          .row = &row,
          .cost = scheduled.cost,
          .temps = {partials_bytes(row, scheduled.schedule, sum_bytes)},
          .decision = std::make_shared<const StreamKDecision>(scheduled.schedule)};
}

// Adds the steps of a schedule: the product, and the sums of split tiles where there are some. Both
// take the same parameters, with members gemm, schedule and partials. The index of the product's
// step.
template <class Params>
std::size_t add_stream_k_steps(const KernelRow& row, const Params& params, const Product& product,
                               PlannedAddress partials, const DeviceLimits& limits,
                               std::vector<Step>& steps) {
  const std::size_t first = steps.size();
  const auto add = [&](Pass pass, const std::string& entry, const LaunchShape& shape) {
    Step& step = steps.emplace_back(step_of(pass, entry, shape, params));
    patch_product(step, offsetof(Params, gemm), product);
    step.addresses.push_back({offsetof(Params, partials), partials,
                              pass == Pass::kMultiply ? Use::kWritten : Use::kRead});
  };
  const schedule::StreamK& schedule = params.schedule;
  add(Pass::kMultiply, row.entry,
      {.grid = schedule.ctas, .block = row.threads, .shared_bytes = row.shared_bytes});
  if (schedule.split_tiles() > 0) {
    add(Pass::kReduce, row.reduce_entry,
        shape_of_reduce(schedule, row.block.m, row.block.n, limits.sms));
  }
  return first;
}

}  // namespace tessera::gemm
