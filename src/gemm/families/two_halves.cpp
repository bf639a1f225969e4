// Rung 47: FP32 on Hopper's tensor cores, of operands that are split into two FP16 terms. The steps
// of a plan:
//
//   terms       the elements of A and B, scaled, in two FP16 terms each
//   multiply    a persistent grid: three products of terms, in chains that are promoted
//
// What the terms would lose is written, and not read: the library's kernel does that
// (promoted.cpp).
#include <algorithm>
#include <cstddef>

#include "gemm/families/shared/family.h"
#include "gemm/families/shared/tensor_maps.h"
#include "gemm/steps/terms.h"
#include "ladder/47_two_halves/config.h"

namespace tessera::gemm {
namespace {

class TwoHalves final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    const GemmParams& p = request.product.params;
    constexpr std::int64_t kMost = std::int64_t{1} << 29;  // HW: of coordinates, and of terms
    return offer_variants(kernel, variant, request, offers, [&](const Variant& one) -> Status {
      const KernelRow& row = one.rows.front();
      if (std::max({p.m, p.n, p.k}) > kMost || tiles_of(row, p) > kMost) {
        return too_many_tiles(kernel, request, "2^29 elements along each side");
      }
      offers.push_back(
          {.kernel = &kernel,
           .row = &row,
           .cost = cost_of_tiles({&row, one.tflops}, p, size_of(kernel.types.a), request.limits),
           .temps = terms_of(p).temps()});
      return {};
    });
  }

  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    const Product& product = request.product;
    const Terms terms = terms_of(product.params);
    std::vector<Step> steps;
    if (product.params.k > 0) {
      const std::string& entry = offer.kernel->helpers.front().entry;
      steps.push_back(terms.step(entry, product, request.temp(kTermsOfA)));
    }
    steps.push_back(multiply(*offer.row, terms, request));
    // WHY: only the driver knows where a block of 64-byte maps begins.
    for (Step& step : steps) step.launch.param_offsets = {0};
    return steps;
  }

 private:
  static std::int64_t chains_of(const GemmParams& p) {
    return ceil_div(p.k, std::int64_t{two_halves::kChainK});
  }
  static Terms terms_of(const GemmParams& p) { return {p, chains_of(p) * two_halves::kChainK}; }

  static Step multiply(const KernelRow& row, const Terms& terms, const Request& request) {
    using two_halves::Params;
    const auto& config = *static_cast<const two_halves::Config*>(row.config);
    Params params{};
    const GemmParams& p = params.gemm = request.product.params;
    params.raster = square_raster(static_cast<int>(ceil_div(p.m, config.block.m)),
                                  static_cast<int>(ceil_div(p.n, config.block.n)),
                                  {config.block.m, config.block.n}, request.limits.sms);
    params.chains = static_cast<int>(chains_of(p));
    const std::int64_t columns = epilogue::whole_columns(p.n, ElementType::kF32);
    TensorMapDesc d = tensor_map_of(TensorType::kF32, columns, p.m, p.d_row, config.d_box());
    d.promotion = TensorPromotion::kNone;
    const bool copies_d = p.k > 0 && columns > 0 && can_be_mapped(d, request.d_alignment);
    if (copies_d) params.copied_columns = static_cast<int>(columns);
    Step step = step_of(Pass::kMultiply, row.entry,
                        {.grid = std::min<std::int64_t>(request.limits.sms, params.raster.tiles()),
                         .block = row.threads,
                         .shared_bytes = row.shared_bytes},
                        params);
    patch_product(step, offsetof(Params, gemm), request.product);
    if (p.k == 0) return step;
    const PlannedAddress scales = request.temp(kScales);
    step.addresses.push_back({offsetof(Params, exponents_a), scales.moved(terms.exponents_a())});
    step.addresses.push_back({offsetof(Params, exponents_b), scales.moved(terms.exponents_b())});
    const auto map = [&](std::int64_t outer, TensorBox box) {
      return tensor_map_of(TensorType::kF16, terms.row(), outer, terms.row(), box);
    };
    step.maps.push_back(
        {offsetof(Params, a_map), map(p.m, config.a_box()), request.temp(kTermsOfA)});
    step.maps.push_back(
        {offsetof(Params, b_map), map(p.n, config.b_box()), request.temp(kTermsOfB)});
    if (copies_d) {
      step.maps.push_back({offsetof(Params, d_map), d, request.product.d, Use::kWritten});
    }
    return step;
  }
};

}  // namespace

const Family& two_halves_family() {
  static const TwoHalves family;
  return family;
}

}  // namespace tessera::gemm
