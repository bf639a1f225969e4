// BF16, FP16 and TF32 on the tensor cores of all GPUs since SM 8.0: a persistent grid that walks a
// stream-K schedule. The launches of a plan:
//
//   multiply    operands as they are, whatever their layout and alignment
//   reduce      after it, where tiles are split: adds their partials, which the workspace holds
#include "kernels/families/mma/params.h"

#include <algorithm>
#include <cstddef>

#include "gemm/family.h"

namespace tessera::gemm {
namespace {

using mma::MmaParams;
using schedule::StreamK;

std::int64_t bytes_of_partials(const KernelRow& row, const StreamK& schedule) {
  return schedule::slots_of(schedule) * row.block.m * row.block.n *
         static_cast<std::int64_t>(sizeof(float));
}

class MmaDecision final : public Decision {
 public:
  explicit MmaDecision(const StreamK& chosen) : schedule(chosen) {}

  // "64 tiles", "24 tiles in 264 runs", "132 tiles, 24 in 264 runs"
  std::string text() const override {
    std::string text = std::to_string(schedule.tiles()) + " tiles";
    const int split = schedule.split_tiles();
    if (split == 0) return text;
    if (split < schedule.tiles()) text += ", " + std::to_string(split);
    return text + " in " + std::to_string(schedule.runs) + " runs";
  }

  StreamK schedule;
};

class Mma final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    for (const Variant& one : variants_with_rates(kernel, request.limits)) {
      if (!variant.empty() && one.name() != variant) continue;
      const KernelRow& row = row_of_majors(one, request);
      const GemmParams& p = request.product.params;
      if (!schedule::fits_schedule(p.m, p.n, p.k, row.block)) return too_large(kernel, request);
      const RatedRow rated{.row = &row,
                           .tflops = one.tflops,
                           .element_bytes = size_of(kernel.types.a),
                           .costs = &Coefficients::mma};
      const Scheduled best = scheduled(rated, request);
      const bool empty = request.is_empty();
      offers.push_back({&kernel, &row, empty ? Cost{} : best.cost,
                        empty ? 0 : bytes_of_partials(row, best.schedule), 1,
                        std::make_shared<const MmaDecision>(best.schedule)});
    }
    return {};
  }

  std::vector<PlannedLaunch> launches(const Offer& offer, const Request& request) const override {
    const KernelRow& row = *offer.row;
    const StreamK& schedule = static_cast<const MmaDecision&>(*offer.decision).schedule;
    const MmaParams params{request.product.params, schedule, nullptr};
    std::vector<PlannedLaunch> launches = {launch_of(
        row.entry, {.grid = schedule.ctas, .block = row.threads, .shared_bytes = row.shared_bytes},
        params)};
    if (schedule.split_tiles() > 0) {
      const std::int64_t pieces = std::int64_t{schedule.split_tiles()} *
                                  passes::reduce_pieces(schedule, row.block.m, row.block.n);
      const std::int64_t resident = std::int64_t{passes::kPassCtasPerSm} * request.limits.sms;
      launches.push_back(
          launch_of(row.reduce_entry,
                    {.grid = std::min(pieces, resident), .block = passes::kReduceThreads}, params));
    }
    for (PlannedLaunch& launch : launches) {
      patch_product(launch, offsetof(MmaParams, gemm), request.product);
      launch.addresses.push_back({offsetof(MmaParams, partials), {Slot::kWorkspace, 0}});
    }
    return launches;
  }

 private:
  // The schedule that costs least or, where its partials do not fit the workspace, whole tiles.
  static Scheduled scheduled(const RatedRow& rated, const Request& request) {
    // Every layout is copied alike, so none pays for being copied by elements.
    constexpr OperandModes kModes{{Major::kM, Major::kN}, {Load::kTma, Load::kTma}};
    const auto by_policy = [&](Policy split) {
      return cost_of_persistent(rated, kModes, request.product.params, request.limits, split);
    };
    const Scheduled best = by_policy(request.options.split);
    if (bytes_of_partials(*rated.row, best.schedule) <= request.options.workspace_limit) {
      return best;
    }
    return by_policy(Policy::kNever);
  }

  static Status too_large(const Kernel& kernel, const Request& request) {
    const Problem& p = request.problem;
    return Status::unsupported("m is " + std::to_string(p.m) + ", n is " + std::to_string(p.n) +
                               " and k is " + std::to_string(p.k) + ", but " + kernel.name +
                               " counts at most 2^30 tiles, and as many along k");
  }
};

}  // namespace

const Family& mma_family() {
  static const Mma family;
  return family;
}

}  // namespace tessera::gemm
