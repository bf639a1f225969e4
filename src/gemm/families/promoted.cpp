// FP32 products on Hopper's tensor cores, of operands that are split into terms. The steps of a
// plan:
//
//   terms       splits each element of A and B, scaled, into two FP16 terms, and records whether
//               the terms suffice; skips an operand that the caller has packed
//   multiply    every tile of D: three products of terms or, if the terms do not suffice, FFMAs
#include <algorithm>
#include <cstddef>

#include "gemm/families/shared/family.h"
#include "gemm/families/shared/tensor_maps.h"
#include "gemm/steps/terms.h"
#include "kernels/families/promoted/config.h"
#include "kernels/families/promoted/params.h"

namespace tessera::gemm {
namespace {

using promoted::PromotedParams;

constexpr std::int64_t kMostOfASide = std::int64_t{1} << 29;  // HW: limit of coordinates and terms

const promoted::Config& promoted_config(const KernelRow& row) {
  return *static_cast<const promoted::Config*>(row.config);
}

// The number of elements along k that are split into terms: k rounded up to whole stages.
std::int64_t split_k(std::int64_t k) { return round_up(k, promoted::kStageK); }

TermsSides sides_of(const Request& request) {
  const std::int64_t k = request.product.params.k;
  TermsSides sides(request.product, {split_k(k), promoted::kLowExponent}, request.temp(0));
  for (TermsSide* side : {&sides.a, &sides.b}) {
    if (k > 0 && request.is_packed(side->from)) sides.pack(*side);
  }
  return sides;
}

class PromotedSteps {
 public:
  PromotedSteps(const Offer& offer, const Request& request)
      : kernel_(*offer.kernel),
        row_(*offer.row),
        config_(promoted_config(row_)),
        request_(request),
        p_(request.product.params),
        sides_(sides_of(request)) {}

  std::vector<Step> all() const {
    std::vector<Step> steps;
    if (p_.k > 0 && !sides_.are_packed()) steps.push_back(sides_.step(kernel_.name + "__terms"));
    steps.push_back(multiply());
    // WHY the product may start early after the terms: all its threads wait for the end of that
    // launch before they access memory. A first step starts after all earlier work of the stream.
    steps.back().launch.shape.starts_early = steps.size() > 1;
    return steps;
  }

 private:
  schedule::Raster raster() const {
    return square_raster(static_cast<int>(ceil_div(p_.m, config_.block.m)),
                         static_cast<int>(ceil_div(p_.n, config_.block.n)),
                         {config_.block.m, config_.block.n}, request_.limits.sms);
  }

  static TensorMapDesc map_of_terms(const TermsForm& form, TensorBox box) {
    return tensor_map_of(TensorType::kF16, form.row(), form.outer, form.row(), box);
  }

  Step multiply() const {
    PromotedParams params{};
    params.gemm = p_;
    params.raster = raster();
    params.stages = static_cast<int>(split_k(p_.k) / promoted::kStageK);
    if (p_.k > 0) {
      params.a_terms.lost_words = static_cast<int>(sides_.a.form.ctas());
      params.b_terms.lost_words = static_cast<int>(sides_.b.form.ctas());
    }
    const std::int64_t columns = epilogue::whole_columns(p_.n, ElementType::kF32);
    TensorMapDesc d = tensor_map_of(TensorType::kF32, columns, p_.m, p_.d_row, config_.d_box());
    d.promotion = TensorPromotion::kNone;
    const bool copies_d = p_.k > 0 && columns > 0 && can_be_mapped(d, request_.d_alignment);
    params.copied_columns = copies_d ? static_cast<int>(columns) : 0;
    Step step = step_of(Pass::kMultiply, row_.entry,
                        {.grid = std::min<std::int64_t>(request_.limits.sms, params.raster.tiles()),
                         .block = row_.threads,
                         .shared_bytes = row_.shared_bytes},
                        params);
    step.launch.param_offsets = {0};
    patch_product(step, offsetof(PromotedParams, gemm), request_.product);
    if (p_.k == 0) return step;
    patch_terms(step, offsetof(PromotedParams, a_terms), sides_.a);
    patch_terms(step, offsetof(PromotedParams, b_terms), sides_.b);
    step.maps.push_back({offsetof(PromotedParams, a_map),
                         map_of_terms(sides_.a.form, config_.a_box()), sides_.a.to});
    step.maps.push_back({offsetof(PromotedParams, b_map),
                         map_of_terms(sides_.b.form, config_.b_box()), sides_.b.to});
    if (copies_d) {
      step.maps.push_back({offsetof(PromotedParams, d_map), d, request_.product.d, Use::kWritten});
    }
    return step;
  }

  const Kernel& kernel_;
  const KernelRow& row_;
  const promoted::Config& config_;
  const Request& request_;
  const GemmParams& p_;
  const TermsSides sides_;
};

class Promoted final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    const GemmParams& p = request.product.params;
    if (std::max({p.m, p.n, p.k}) > kMostOfASide || !fits_grid(p)) {
      return too_many_tiles(kernel, request, "2^29 elements along each side");
    }
    return offer_variants(kernel, variant, request, offers, [&](const Variant& one) -> Status {
      const KernelRow& row = one.rows.front();
      offers.push_back({.kernel = &kernel,
                        .row = &row,
                        .cost = cost(kernel, row, one.tflops, request),
                        .temps = sides_of(request).temps()});
      return {};
    });
  }
  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    return PromotedSteps(offer, request).all();
  }
  std::optional<Packing> packing(const Kernel& kernel, const Request& request,
                                 Slot operand) const override {
    TermsSides sides = sides_of(request);
    const bool is_a = sides.a.from.slot == operand;
    TermsSide& side = is_a ? sides.a : sides.b;
    TermsSide& other = is_a ? sides.b : sides.a;
    Packing packing{side.form.outer, side.form.k, side.form.bytes()};
    if (packing.bytes == 0) return packing;
    // The step writes to the address where a plan with a packed operand reads.
    side.to = {packed_slot_of(operand)};
    other.is_packed = true;
    packing.step = sides.step(kernel.name + "__terms");
    packing.step->kernel = &kernel;
    return packing;
  }

 private:
  // Whether the launches have at most 2^30 CTAs: with the smallest tiles of D, and for splitting.
  static bool fits_grid(const GemmParams& p) {
    constexpr std::int64_t kMostTiles = std::int64_t{1} << 30;
    const auto tiles = [](std::int64_t sides) { return ceil_div(sides, std::int64_t{64}); };
    const std::int64_t k = split_k(p.k);
    return TermsForm{p.m, p.k, k}.ctas() + TermsForm{p.n, p.k, k}.ctas() <= kMostTiles &&
           tiles(p.m) * tiles(p.n) <= kMostTiles;
  }

  static Cost cost(const Kernel& kernel, const KernelRow& row, double tflops,
                   const Request& request) {
    const GemmParams& p = request.product.params;
    const promoted::Config& config = promoted_config(row);
    const std::int64_t tiles_m = ceil_div(p.m, config.block.m);
    const TensorCoreWork work{
        .block = row.block,
        .per_sm = 1,
        .rate = tflops,
        .hides_store = false,
        .copies_d = request.d_alignment % 16 == 0 && p.d_row % 4 == 0,
        .stages = config.stages,
        .is_of_one_warpgroup = false,
        .a = {.is_along_k = true, .is_from_registers = false, .row_bytes = 128},
        .b = {.is_along_k = true, .is_from_registers = false, .row_bytes = 128},
        .d_row_bytes = p.d_row % 8 == 0 ? 32 : 16,
        .tiles_m = tiles_m,
        .products = 1,
        .tiles = tiles_m * ceil_div(p.n, config.block.n),
        .k_tiles = split_k(p.k) / promoted::kStageK,
        .parts = 0,
        .repacked_bytes = 0,
        .types = &kernel.types};
    Cost cost = cost_of_tensor_cores(work, p, request.limits);
    const TermsSides sides = sides_of(request);
    if (p.k == 0 || sides.are_packed()) return cost;
    cost.repack = cost_of_repacking(sides.bytes_to_split(), request.limits);
    return cost;
  }
};

}  // namespace

const Family& promoted_family() {
  static const Promoted family;
  return family;
}

}  // namespace tessera::gemm
