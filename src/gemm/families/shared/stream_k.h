// Code of all families with a stream-K schedule: the schedule within the workspace limit, its piece
// of a decision, and its steps.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "gemm/families/shared/family.h"
#include "gemm/steps/reduce.h"
#include "kernels/schedule/stream_k.h"

namespace tessera::gemm {

// The piece for a rectangle of D with this schedule. `m` and `n` are the sizes of one product.
inline Piece piece_of(const KernelRow& row, std::int64_t m, std::int64_t n,
                      const schedule::StreamK& schedule) {
  return {.variant = row.variant,
          .m = m,
          .n = n,
          .tiles = schedule.tiles(),
          .whole_tiles = schedule.whole_tiles,
          .runs = schedule.runs};
}

// The schedule of a piece. A batch is scheduled as one matrix, with one product below the other.
inline schedule::StreamK schedule_of(const Piece& piece, const KernelRow& row,
                                     const Request& request) {
  const std::int64_t m =
      request.is_batch() ? round_up(piece.m, row.block.m) * request.products() : piece.m;
  const int ctas = request.limits.sms * row.ctas_per_sm;
  const schedule::StreamK whole =
      schedule::data_parallel(m, piece.n, request.product.params.k, row.block, ctas);
  return piece.is_split() ? schedule::with_split(whole, piece.whole_tiles, piece.runs, ctas)
                          : whole;
}

inline std::int64_t partials_bytes(const KernelRow& row, const schedule::StreamK& schedule,
                                   int sum_bytes) {
  return schedule::slots_of(schedule) * row.block.m * row.block.n * sum_bytes;
}

// The result of with(split) for the split of the given decision, else for the policy of the
// options. If the partial sums of that schedule exceed the workspace limit, no tile is split.
template <class With>
Scheduled scheduled_within(const Request& request, const KernelRow& row, int sum_bytes,
                           With&& with) {
  if (request.given) return with(Splitting(request.given->list[0]));
  Scheduled best = with(request.options.split);
  const bool fits =
      partials_bytes(row, best.schedule, sum_bytes) <= request.options.workspace_limit;
  return fits ? best : with(Policy::kNever);
}

// The schedule and the cost for a config row that loads all layouts in the same
// way. A batch is not split.
inline Scheduled scheduled_alike(const RatedRow& rated, const Request& request, int sum_bytes) {
  constexpr OperandModes kModes{{Major::kM, Major::kN}, {Load::kTma, Load::kTma}};
  const GemmParams& p = request.product.params;
  if (request.is_batch()) {
    return cost_of_batch(rated, kModes, p, request.limits, request.products(), false);
  }
  return scheduled_within(request, *rated.row, sum_bytes, [&](Splitting split) {
    return cost_of_persistent(rated, kModes, p, request.limits, split);
  });
}

// The offer of a config row with a schedule. The only temp of the offer holds the partial sums.
inline Offer stream_k_offer(const Kernel& kernel, const KernelRow& row, const Request& request,
                            const Scheduled& scheduled, int sum_bytes) {
  const GemmParams& p = request.product.params;
  return {.kernel = &kernel,
          .row = &row,
          .cost = scheduled.cost,
          .temps = {partials_bytes(row, scheduled.schedule, sum_bytes)},
          .decision = {.list = {piece_of(row, p.m, p.n, scheduled.schedule)}, .count = 1}};
}

// Adds the steps of a schedule: the product and, if tiles are split, the addition of partial sums.
// Both steps have parameters of type Params, with members gemm, schedule and partials. Returns the
// index of the product's step.
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
