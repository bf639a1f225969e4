// FP64 products on tensor cores: a persistent grid that walks a stream-K schedule. The steps of a
// plan:
//
//   multiply    operands as they are, in any layout and alignment; all products of a batch
//   reduce      if tiles are split: adds their partial sums
#include "gemm/families/shared/stream_k.h"
#include "gemm/vectors.h"
#include "kernels/families/dmma/params.h"

namespace tessera::gemm {
namespace {

using dmma_f64::DmmaParams;

constexpr int kDouble = sizeof(double);

// The share of the rate of aligned operands that is reached with copies of 8 bytes instead of 16,
// and with both operands along k. HW: results/tensor/f64.json and f64_odd.json.
double share_of_rate(const Request& request) {
  constexpr double kEightBytes = 0.87, kBothAlongK = 0.96;
  const bool along_k = request.majors.a == Major::kK && request.majors.b == Major::kK;
  return (operands_allow_vectors(request) ? 1 : kEightBytes) * (along_k ? kBothAlongK : 1);
}

// The additional microseconds that CTAs wait for C, compared with the cost model's time, in kernels
// that read C one pair at a time, or in groups without a prefetch to L2 (dmma_f64::Config). HW: one
// pair at a time: an H100, where dmma.c_wait fell by as much when the other kernels began to read C
// in groups. In groups: an estimate.
double more_waits_for_c(const KernelRow& row, const Request& request, const Scheduled& scheduled) {
  constexpr double kOneAtATime = 312, kInGroups = 78;
  constexpr int kSumsOfWarp = 32 * 64;
  const bool across_k = request.majors.a == Major::kM && request.majors.b == Major::kN;
  const int outputs = row.block.m * row.block.n;
  const bool has_all_registers = outputs < kSumsOfWarp * row.threads / 32;
  if (request.product.params.beta == 0 || !across_k || has_all_registers) return 0;
  const GemmParams& p = request.product.params;
  const bool has_whole_rows =
      are_whole_vectors(p.c_row, kDouble) && are_whole_vectors(p.d_row, kDouble);
  const double of_sm = static_cast<double>(scheduled.schedule.tiles()) / request.limits.sms;
  return (has_whole_rows ? kInGroups : kOneAtATime) * outputs / row.threads * of_sm /
         row.ctas_per_sm / (request.limits.costs->gpu->clock_ghz * 1e3);
}

class Dmma final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    if (!has_fp64_tensor_cores(request.limits.sm)) return no_fp64_tensor_cores(kernel, request);
    return offer_variants(kernel, variant, request, offers, [&](const Variant& one) -> Status {
      const GemmParams& p = request.product.params;
      const KernelRow& row = row_of_majors(one, request);
      if (!schedule::fits_schedule(p.m, p.n, p.k, row.block, request.products())) {
        return too_many_tiles(kernel, request);
      }
      Scheduled best = scheduled_alike({.row = &row,
                                        .tflops = one.tflops * share_of_rate(request),
                                        .element_bytes = kDouble,
                                        .costs = &Coefficients::dmma},
                                       request, kDouble);
      if (kernel.first_sm >= 90) best.cost.store += more_waits_for_c(row, request, best);
      offers.push_back(stream_k_offer(kernel, row, request, best, kDouble));
      return {};
    });
  }

  bool takes(const Batch&) const override { return true; }

  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    const KernelRow& row = *offer.row;
    DmmaParams params{};
    params.gemm = request.product.params;
    params.schedule = schedule_of(offer.decision.list[0], row, request);
    params.batch = batch_of(request, ceil_div(params.gemm.m, row.block.m));
    std::vector<Step> steps;
    add_stream_k_steps(row, params, request.product, request.temp(0), request.limits, steps);
    // WHY the second step may start early: all its blocks wait for the end of the first launch. HW:
    // only code for sm_90 can start early.
    if (steps.size() > 1) steps[1].launch.shape.starts_early = offer.kernel->first_sm >= 90;
    return steps;
  }
};

}  // namespace

const Family& dmma_family() {
  static const Dmma family;
  return family;
}

}  // namespace tessera::gemm
