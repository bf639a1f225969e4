// Rungs 15 and 16: a persistent grid without split tiles. Tensor copies load the operands if
// their alignment allows it.
#include <cstddef>

#include "gemm/families/shared/family.h"
#include "gemm/families/shared/tensor_maps.h"
#include "ladder/15_producer_warp/config.h"

namespace tessera::gemm {
namespace {

using producer_warp::Params;

class ProducerWarp final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    return offer_variants(kernel, variant, request, offers, [&](const Variant& one) -> Status {
      const GemmParams& p = request.product.params;
      const KernelRow* row = row_of_loads(one, request);
      if (!row || !schedule::fits_schedule(p.m, p.n, p.k, row->block)) {
        return too_many_tiles(kernel, request);
      }
      offers.push_back({.kernel = &kernel,
                        .row = row,
                        .cost = cost_of_persistent({row, one.tflops}, {row->majors, row->loads}, p,
                                                   request.limits, Policy::kNever)
                                    .cost});
      return {};
    });
  }

  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    const KernelRow& row = *offer.row;
    Params params{};
    params.gemm = request.product.params;
    const GemmParams& p = params.gemm;
    params.schedule =
        schedule::data_parallel(p.m, p.n, p.k, row.block, request.limits.sms * row.ctas_per_sm);
    Step step = step_of(
        Pass::kMultiply, row.entry,
        {.grid = params.schedule.ctas, .block = row.threads, .shared_bytes = row.shared_bytes},
        params);
    // WHY: the driver must align a parameter block with 64-byte tensor maps.
    step.launch.param_offsets = {0};
    patch_product(step, offsetof(Params, gemm), request.product);
    add_maps(step, row, request.product, offsetof(Params, a_map), offsetof(Params, b_map));
    return {std::move(step)};
  }
};

}  // namespace

const Family& producer_warp_family() {
  static const ProducerWarp family;
  return family;
}

}  // namespace tessera::gemm
