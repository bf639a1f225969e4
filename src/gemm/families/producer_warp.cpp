// Rungs 15 and 16: a persistent grid that computes every tile whole, operands by tensor copies
// where their alignment allows it.
#include <cstddef>

#include "gemm/family.h"
#include "gemm/tensor_maps.h"
#include "ladder/15_producer_warp/config.h"

namespace tessera::gemm {
namespace {

using producer_warp::Params;

class ProducerWarp final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    const GemmParams& p = request.product.params;
    for (const Variant& one : variants_with_rates(kernel, request.limits)) {
      if (!variant.empty() && one.name() != variant) continue;
      const KernelRow* row = row_of_loads(one, request);
      if (!row || !schedule::fits_schedule(p.m, p.n, p.k, row->block)) {
        return Status::unsupported("m is " + std::to_string(request.problem.m) + ", n is " +
                                   std::to_string(request.problem.n) + " and k is " +
                                   std::to_string(request.problem.k) + ", but " + kernel.name +
                                   " counts at most 2^30 tiles, and as many along k");
      }
      offers.push_back({&kernel, row,
                        cost_of_persistent({row, one.tflops}, {row->majors, row->loads}, p,
                                           request.limits, Policy::kNever)
                            .cost,
                        0});
    }
    return {};
  }

  std::vector<PlannedLaunch> launches(const Offer& offer, const Request& request) const override {
    const KernelRow& row = *offer.row;
    Params params{};
    params.gemm = request.product.params;
    const GemmParams& p = params.gemm;
    params.schedule =
        schedule::data_parallel(p.m, p.n, p.k, row.block, request.limits.sms * row.ctas_per_sm);
    PlannedLaunch launch = launch_of(
        row.entry,
        {.grid = params.schedule.ctas, .block = row.threads, .shared_bytes = row.shared_bytes},
        params);
    // WHY: only the driver knows where a block of 64-byte maps begins.
    launch.launch.param_offsets = {0};
    patch_product(launch, offsetof(Params, gemm), request.product);
    add_maps(launch, row, request.product, offsetof(Params, a_map), offsetof(Params, b_map));
    return {std::move(launch)};
  }
};

}  // namespace

const Family& producer_warp_family() {
  static const ProducerWarp family;
  return family;
}

}  // namespace tessera::gemm
