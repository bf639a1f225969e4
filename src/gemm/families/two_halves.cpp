// Rung 47: FP32 on Hopper's tensor cores, of operands that are split into two FP16 terms. The steps
// of a plan:
//
//   terms       splits each element of A and B, scaled, into two FP16 terms
//   multiply    a persistent grid: three products of terms, in short chains that FP32 sums add
//
// The first step also writes what the terms lose. This rung ignores that; the library's kernel does
// not (promoted.cpp).
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
    constexpr std::int64_t kMost = std::int64_t{1} << 29;  // HW: limit of coordinates and terms
    return offer_variants(kernel, variant, request, offers, [&](const Variant& one) -> Status {
      const KernelRow& row = one.rows.front();
      if (std::max({p.m, p.n, p.k}) > kMost || tiles_of(row, p) > kMost) {
        return too_many_tiles(kernel, request, "2^29 elements along each side");
      }
      offers.push_back(
          {.kernel = &kernel,
           .row = &row,
           .cost = cost_of_tiles({&row, one.tflops}, p, size_of(kernel.types.a), request.limits),
           .temps = sides_of(request).temps()});
      return {};
    });
  }

  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    const TermsSides sides = sides_of(request);
    std::vector<Step> steps;
    if (request.product.params.k > 0) {
      steps.push_back(sides.step(offer.kernel->helpers.front().entry));
    }
    steps.push_back(multiply(*offer.row, sides, request));
    return steps;
  }

 private:
  static std::int64_t chains_of(const GemmParams& p) {
    return ceil_div(p.k, std::int64_t{two_halves::kChainK});
  }
  static TermsSides sides_of(const Request& request) {
    return {request.product,
            {chains_of(request.product.params) * two_halves::kChainK, 0},
            request.temp(0)};
  }

  static Step multiply(const KernelRow& row, const TermsSides& sides, const Request& request) {
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
    // WHY: the driver must align a parameter block with 64-byte tensor maps.
    step.launch.param_offsets = {0};
    patch_product(step, offsetof(Params, gemm), request.product);
    if (p.k == 0) return step;
    const auto read = [&](const TermsSide& side, std::size_t exponents, std::size_t map,
                          TensorBox box) {
      const std::int64_t row = side.form.row();
      step.addresses.push_back({exponents, side.to.moved(side.form.exponents())});
      step.maps.push_back(
          {map, tensor_map_of(TensorType::kF16, row, side.form.outer, row, box), side.to});
    };
    read(sides.a, offsetof(Params, exponents_a), offsetof(Params, a_map), config.a_box());
    read(sides.b, offsetof(Params, exponents_b), offsetof(Params, b_map), config.b_box());
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
