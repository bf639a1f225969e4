// FP64 products on tensor cores: a persistent grid that walks a stream-K schedule. The launches of
// a plan:
//
//   multiply    operands as they are, whatever their layout and alignment; all products of a batch
//   reduce      after it, where tiles are split: adds their partials, which the workspace holds
#include <algorithm>
#include <cstddef>

#include "gemm/families/schedule_text.h"
#include "gemm/family.h"
#include "kernels/families/dmma/params.h"

namespace tessera::gemm {
namespace {

using dmma_f64::DmmaParams;
using schedule::StreamK;

std::int64_t partials_bytes(const KernelRow& row, const StreamK& schedule) {
  return schedule::slots_of(schedule) * row.block.m * row.block.n * sizeof(double);
}

class DmmaDecision final : public Decision {
 public:
  explicit DmmaDecision(const StreamK& chosen) : schedule(chosen) {}

  std::string text() const override { return schedule_text(schedule); }

  StreamK schedule;
};

// Of the rate at aligned operands: copies of 8 bytes instead of 16, and both operands along k. HW:
// results/tensor/f64.json and f64_odd.json.
double share_of_rate(const Request& request) {
  constexpr double kEightBytes = 0.87, kBothAlongK = 0.96;
  const bool along_k = request.majors.a == Major::kK && request.majors.b == Major::kK;
  return (operands_allow_vectors(request) ? 1 : kEightBytes) * (along_k ? kBothAlongK : 1);
}

// The schedule that costs least or, where its partials do not fit the workspace, that of whole
// tiles.
Scheduled schedule_of(const RatedRow& rated, const Request& request) {
  const KernelRow& row = *rated.row;
  // Every layout is copied alike, so none pays for being copied by elements.
  const OperandModes modes{{Major::kM, Major::kN}, {Load::kTma, Load::kTma}};
  const auto scheduled = [&](Policy split) {
    return cost_of_persistent(rated, modes, request.product.params, request.limits, split);
  };
  if (request.problem.batch.kind != BatchKind::kNone) {
    return cost_of_batch(rated, modes, request.product.params, request.limits,
                         request.problem.batch.count, false);
  }
  const Scheduled best = scheduled(request.options.split);
  const bool fits = partials_bytes(row, best.schedule) <= request.options.workspace_limit;
  return fits ? best : scheduled(Policy::kNever);
}

class Dmma final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    if (!has_fp64_tensor_cores(request.limits.sm)) {
      return Status::unsupported("kernel is " + kernel.name + ", but an sm_" +
                                 std::to_string(request.limits.sm) + " has no FP64 tensor cores");
    }
    const GemmParams& p = request.product.params;
    Status refused;
    for (const Variant& one : variants_with_rates(kernel, request.limits)) {
      if (!variant.empty() && one.name() != variant) continue;
      const KernelRow& row = row_of_majors(one, request);
      if (!schedule::fits_schedule(p.m, p.n, p.k, row.block, request.problem.batch.count)) {
        refused = too_many_tiles(kernel, request);
        continue;
      }
      const Scheduled best = schedule_of({.row = &row,
                                          .tflops = one.tflops * share_of_rate(request),
                                          .element_bytes = sizeof(double),
                                          .costs = &Coefficients::dmma},
                                         request);
      offers.push_back({&kernel, &row, request.is_empty() ? Cost{} : best.cost,
                        request.is_empty() ? 0 : partials_bytes(row, best.schedule), 1,
                        std::make_shared<const DmmaDecision>(best.schedule)});
    }
    return offers.empty() ? refused : Status{};
  }

  bool takes(const Batch&) const override { return true; }

  std::vector<PlannedLaunch> launches(const Offer& offer, const Request& request) const override {
    const KernelRow& row = *offer.row;
    DmmaParams params{};
    params.gemm = request.product.params;
    params.schedule = static_cast<const DmmaDecision&>(*offer.decision).schedule;
    params.batch = batch_of(request.problem, tiles_along(params.gemm.m, row.block.m));
    const StreamK& schedule = params.schedule;
    std::vector<PlannedLaunch> launches;
    const auto add = [&](const std::string& entry, const LaunchShape& shape) -> PlannedLaunch& {
      PlannedLaunch& launch = launches.emplace_back(launch_of(entry, shape, params));
      patch_product(launch, offsetof(DmmaParams, gemm), request.product);
      launch.addresses.push_back({offsetof(DmmaParams, partials), {Slot::kWorkspace, 0}});
      return launch;
    };
    add(row.entry, {.grid = schedule.ctas, .block = row.threads, .shared_bytes = row.shared_bytes});
    if (schedule.split_tiles() == 0) return launches;
    const std::int64_t pieces = std::int64_t{schedule.split_tiles()} *
                                passes::reduce_pieces(schedule, row.block.m, row.block.n);
    const std::int64_t blocks = std::int64_t{passes::kPassCtasPerSm} * request.limits.sms;
    // WHY it may start early: all of its blocks wait for the end of the launch before. HW: only
    // code for sm_90 can.
    add(row.reduce_entry, {.grid = std::min(pieces, blocks), .block = passes::kReduceThreads})
        .launch.shape.starts_early = offer.kernel->first_sm >= 90;
    return launches;
  }

 private:
  static Status too_many_tiles(const Kernel& kernel, const Request& request) {
    const Problem& p = request.problem;
    return Status::unsupported("m is " + std::to_string(p.m) + ", n is " + std::to_string(p.n) +
                               " and k is " + std::to_string(p.k) + ", but " + kernel.name +
                               " counts at most 2^30 tiles, and as many along k");
  }
};

}  // namespace

const Family& dmma_family() {
  static const Dmma family;
  return family;
}

}  // namespace tessera::gemm
