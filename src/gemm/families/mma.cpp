// BF16, FP16 and TF32 on the tensor cores of all GPUs since SM 8.0: a persistent grid that walks a
// stream-K schedule. The steps of a plan:
//
//   multiply    operands as they are, in any layout and alignment; all products of a batch
//   reduce      if tiles are split: adds their partial sums
#include "kernels/families/mma/params.h"

#include "gemm/families/shared/stream_k.h"

namespace tessera::gemm {
namespace {

using mma::MmaParams;

constexpr int kSumBytes = sizeof(float);

class Mma final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    return offer_variants(kernel, variant, request, offers, [&](const Variant& one) -> Status {
      const KernelRow& row = row_of_majors(one, request);
      const GemmParams& p = request.product.params;
      if (!schedule::fits_schedule(p.m, p.n, p.k, row.block, request.products())) {
        return too_many_tiles(kernel, request);
      }
      const Scheduled best = scheduled_alike({.row = &row,
                                              .tflops = one.tflops,
                                              .element_bytes = size_of(kernel.types.a),
                                              .costs = &Coefficients::mma},
                                             request, kSumBytes);
      offers.push_back(stream_k_offer(kernel, row, request, best, kSumBytes));
      return {};
    });
  }

  bool takes(const Batch&) const override { return true; }

  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    const KernelRow& row = *offer.row;
    MmaParams params{};
    params.gemm = request.product.params;
    params.schedule = schedule_of(offer.decision.list[0], row, request);
    params.batch = batch_of(request, ceil_div(params.gemm.m, row.block.m));
    std::vector<Step> steps;
    add_stream_k_steps(row, params, request.product, request.temp(0), request.limits, steps);
    return steps;
  }
};

}  // namespace

const Family& mma_family() {
  static const Mma family;
  return family;
}

}  // namespace tessera::gemm
