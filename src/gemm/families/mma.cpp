// BF16, FP16 and TF32 on the tensor cores of all GPUs since SM 8.0: a persistent grid that walks a
// stream-K schedule. The steps of a plan:
//
//   multiply    operands as they are, whatever their layout and alignment
//   reduce      after it, where tiles are split: adds their partials
#include "kernels/families/mma/params.h"

#include "gemm/families/shared/stream_k.h"

namespace tessera::gemm {
namespace {

using mma::MmaParams;
using schedule::StreamK;

class Mma final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    return offer_variants(kernel, variant, request, offers, [&](const Variant& one) -> Status {
      const KernelRow& row = row_of_majors(one, request);
      const GemmParams& p = request.product.params;
      if (!schedule::fits_schedule(p.m, p.n, p.k, row.block)) {
        return too_many_tiles(kernel, request);
      }
      const RatedRow rated{.row = &row,
                           .tflops = one.tflops,
                           .element_bytes = size_of(kernel.types.a),
                           .costs = &Coefficients::mma};
      // Every layout is copied alike, so none pays for being copied by elements.
      constexpr OperandModes kModes{{Major::kM, Major::kN}, {Load::kTma, Load::kTma}};
      const Scheduled best = scheduled_within(request, row, kSumBytes, [&](Splitting split) {
        return cost_of_persistent(rated, kModes, p, request.limits, split);
      });
      offers.push_back(stream_k_offer(kernel, row, request, best, kSumBytes));
      return {};
    });
  }

  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    const StreamK schedule = schedule_of(offer.decision.list[0], *offer.row, request);
    const MmaParams params{request.product.params, schedule, nullptr};
    std::vector<Step> steps;
    add_stream_k_steps(*offer.row, params, request.product, request.temp(0), request.limits, steps);
    return steps;
  }

 private:
  static constexpr int kSumBytes = sizeof(float);
};

}  // namespace

const Family& mma_family() {
  static const Mma family;
  return family;
}

}  // namespace tessera::gemm
