#include "gemm/families/shared/wgmma_launches.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "gemm/families/shared/tensor_maps.h"
#include "gemm/steps/finish.h"
#include "gemm/steps/listed_maps.h"
#include "gemm/steps/reduce.h"
#include "gemm/steps/repack.h"
#include "kernels/families/wgmma/params.h"
#include "kernels/types/multiplied.h"

namespace tessera::gemm {
namespace {

using wgmma::Config;
using wgmma::FusedParams;
using wgmma::FusedXParams;
using wgmma::WgmmaParams;

TensorType tensor_type_of(ptx::MatrixType type) {
  if (const auto* row = types::find_multiplied(type)) return row->tensor;
  throw StatusError(Status::unsupported("no kernel multiplies such a matrix type yet"));
}

OperandRows wgmma_rows_of_a(const GemmParams& p, bool along_k) {
  return along_k ? OperandRows{p.k, p.m, p.a_row} : OperandRows{p.m, p.k, p.a_col};
}
OperandRows wgmma_rows_of_b(const GemmParams& p, bool along_k) {
  return along_k ? OperandRows{p.k, p.n, p.b_col} : OperandRows{p.n, p.k, p.b_row};
}

TensorMapDesc map_of(ptx::MatrixType type, const OperandRows& rows, TensorBox box) {
  return tensor_map_of(tensor_type_of(type), rows.inner, rows.rows,
                       rows.map_stride(ptx::bits_of(type) / 8), box);
}

TensorMapDesc map_of_d(const Config& config, std::int64_t columns, std::int64_t rows,
                       std::int64_t stride) {
  const TensorType type = tensor_type_of(config.out);
  TensorMapDesc desc = tensor_map_of(type, columns, rows, stride, config.d_box());
  desc.promotion = TensorPromotion::kNone;
  return desc;
}

}  // namespace

OperandRows repacked_rows(const LoadedOperand& operand, int bytes) {
  const OperandRows& wanted = operand.wanted;
  return {wanted.inner, wanted.rows, repacked_ld(wanted.inner, bytes)};
}

bool takes_batch(const Config& config, const Request& request) {
  const auto fits = [&](bool is_a) { return !operand_of(config, request, is_a).must_repack; };
  return config.ctas() == 1 && (!is_listed(request) || config.takes_lists()) &&
         request.product.params.k > 0 && fits(true) && fits(false);
}

LoadedOperand operand_of(const Config& config, const Request& request, bool is_a) {
  const GemmParams& p = request.product.params;
  const bool along_k = is_a ? request.majors.a == Major::kK : request.majors.b == Major::kK;
  const bool wants_k = is_a ? config.a_along_k() : config.b_along_k();
  const auto rows_of = is_a ? wgmma_rows_of_a : wgmma_rows_of_b;
  const OperandRows rows = rows_of(p, along_k);
  const TensorMapDesc map = map_of(config.in, rows, is_a ? config.a_box() : config.b_box());
  const bool mapped = can_be_mapped(map, is_a ? request.a_alignment : request.b_alignment);
  const bool transposed = along_k != wants_k;
  const bool asked = request.given ? (is_a ? request.given->repack.a : request.given->repack.b)
                                   : request.options.repack == Policy::kAlways;
  return {rows, rows_of(p, wants_k), transposed, p.k > 0 && (transposed || !mapped || asked)};
}

WgmmaTiles wgmma_tiles(const Config& config, const GemmParams& p) {
  const std::int64_t rows = std::int64_t{config.block.m} * config.cluster.m;
  const std::int64_t columns = std::int64_t{config.block.n} * config.cluster.n;
  const std::int64_t tiles_m = ceil_div(p.m, rows), tiles_n = ceil_div(p.n, columns);
  return {tiles_m, tiles_n, tiles_m * rows, tiles_n * columns};
}

std::int64_t k_tiles_of_a_part(const Config& config, const GemmParams& p, std::int64_t parts) {
  return ceil_div(ceil_div(p.k, config.block.k), std::max(parts, std::int64_t{1}));
}

std::vector<std::int64_t> wgmma_temps(const Decision& decision, const Config& config,
                                      const Request& request) {
  const int bytes = ptx::bits_of(config.in) / 8;
  const auto repacked = [&](bool is_a) -> std::int64_t {
    if (!(is_a ? decision.repack.a : decision.repack.b)) return 0;
    const OperandRows rows = repacked_rows(operand_of(config, request, is_a), bytes);
    return rows.stride * rows.rows * bytes;
  };
  const WgmmaTiles tiles = wgmma_tiles(config, request.product.params);
  const std::int64_t sums = decision.parts * tiles.rows_per_k_part * tiles.partial_ld;
  return {decision.is_cut ? sums * static_cast<std::int64_t>(sizeof(float)) : 0, repacked(true),
          repacked(false), is_listed(request) ? bytes_of_listed_maps(request.products()) : 0};
}

namespace {

// Builds the steps of one plan.
class WgmmaSteps {
 public:
  WgmmaSteps(const Offer& offer, const Request& request)
      : row_(*offer.row),
        config_(wgmma_config(row_)),
        is_fused_(offer.kernel->applies_epilogue),
        writes_x_(offer.kernel->writes_x),
        decision_(offer.decision),
        caller_(request),
        request_(decision_.is_exchanged ? exchanged(request) : request),
        tiles_(wgmma_tiles(config_, request_.product.params)),
        product_(request_.product),
        of_d_(request.product) {}

  std::vector<Step> all() {
    std::vector<Step> steps;
    steps.reserve(4);
    if (decision_.repack.any()) steps.push_back(repack());
    if (is_listed(caller_)) steps.push_back(maps());
    const bool has_sums = product_.params.k > 0;
    if (has_sums || !decision_.is_cut) steps.push_back(multiply());
    if (decision_.is_cut) steps.push_back(reduce());
    // WHY steps may start early: all threads of a step wait for the end of the
    // previous launch before they access memory. In the first step, that is the
    // stream's last launch before the plan.
    for (Step& step : steps) {
      step.launch.param_offsets = {0};
      step.launch.shape.starts_early = step.pass != Pass::kRepack && step.pass != Pass::kMaps;
    }
    return steps;
  }

 private:
  int element() const { return ptx::bits_of(config_.in) / 8; }

  Step repack() {
    const auto copied = [&](bool is_needed, bool is_a, PlannedAddress& at,
                            WgmmaTemp temp) -> std::optional<RepackedOperand> {
      if (!is_needed) return {};
      const LoadedOperand operand = operand_of(config_, request_, is_a);
      RepackedOperand copy{.outer = operand.wanted.inner,
                           .k = operand.wanted.rows,
                           .from_outer = 1,
                           .from_k = operand.rows.stride,
                           .from = at,
                           .to = request_.temp(temp)};
      if (operand.transposed) std::swap(copy.from_outer, copy.from_k);
      at = copy.to;
      return copy;
    };
    const auto a = copied(decision_.repack.a, true, product_.a, kRepackedA);
    const auto b = copied(decision_.repack.b, false, product_.b, kRepackedB);
    return repack_step(row_.repack_entry, element(), a, b);
  }

  schedule::Raster raster() const {
    const std::int64_t parts = decision_.is_cut ? decision_.parts : 1;
    return square_raster(static_cast<int>(tiles_.tiles_m * parts), static_cast<int>(tiles_.tiles_n),
                         {config_.block.m * config_.cluster.m, config_.block.n * config_.cluster.n},
                         request_.limits.sms);
  }

  // The batch that the kernel multiplies, with strides in bytes.
  schedule::Batch batch() const { return batch_of(request_, 1); }

  void add_batch(WgmmaParams& params) const {
    const schedule::Batch of = batch();
    params.products = of.count;
    params.product_a = of.a == 0 ? 0 : 1, params.product_b = of.b == 0 ? 0 : 1;
    params.product_c = of.c, params.product_d = of.d;
  }

  // The map with the products of a batch as third dimension. If `stride` (bytes) is 0, all
  // products share one matrix.
  TensorMapDesc with_products(TensorMapDesc desc, std::int64_t stride) const {
    const std::int64_t count = batch().count;
    if (count == 1) return desc;
    desc.rank = 3;
    desc.box[2] = 1;
    desc.sizes[2] = stride == 0 ? 1 : static_cast<std::uint64_t>(count);
    desc.strides[1] = stride == 0 ? desc.strides[0] : static_cast<std::uint64_t>(stride);
    return desc;
  }

  Step multiply() {
    WgmmaParams params{};
    add_batch(params);
    params.gemm = of_d_.params;
    params.transposed = decision_.is_exchanged ? 1 : 0;
    params.raster = raster();
    params.k_tiles =
        static_cast<int>(k_tiles_of_a_part(config_, request_.product.params, decision_.parts));
    params.rows_per_k_part = std::numeric_limits<int>::max();
    GemmParams& p = params.gemm;
    if (decision_.is_cut) {
      params.rows_per_k_part = static_cast<int>(tiles_.rows_per_k_part);
      const PartialSums sums = partial_sums();
      p.m = sums.rows, p.n = p.d_row = sums.ld;
      p.alpha = 1, p.beta = 0;
    }
    const std::optional<TensorMapDesc> d = copied_d(p);
    params.copied_columns = d ? static_cast<int>(d->sizes[0]) : 0;
    const LaunchShape launch = shape(std::int64_t{params.raster.tiles()} * params.products);
    Step step =
        is_fused_ ? fused(launch, params) : step_of(Pass::kMultiply, row_.entry, launch, params);
    patch(step, p.k > 0);
    if (is_listed(caller_)) {
      step.addresses.push_back({offsetof(WgmmaParams, listed_maps), request_.temp(kListedMaps)});
    } else if (d) {
      step.maps.push_back({offsetof(WgmmaParams, d_map), with_products(*d, params.product_d),
                           address_of_d(), Use::kWritten});
    }
    return step;
  }

  // The map of the columns of D, or of partial sums, that tensor copies store; none if they cannot.
  std::optional<TensorMapDesc> copied_d(const GemmParams& stored) const {
    const int alignment = decision_.is_cut ? kMostAlignment : request_.d_alignment;
    const std::int64_t columns = epilogue::whole_columns(stored.n, config_.out);
    const TensorMapDesc map = map_of_d(config_, columns, stored.m, stored.d_row);
    if (stored.k == 0 || columns == 0 || !can_be_mapped(map, alignment)) return {};
    return map;
  }

  // The maps of a batch of listed matrices.
  Step maps() const {
    const std::optional<TensorMapDesc> d = copied_d(of_d_.params);
    return listed_maps_step({map_of_operand(true), product_.a}, {map_of_operand(false), product_.b},
                            d ? std::optional<ListedOperand>({*d, of_d_.d}) : std::nullopt,
                            request_.products(), request_.temp(kListedMaps));
  }

  // The map of A or B, or of its copy, as the kernel reads it.
  TensorMapDesc map_of_operand(bool is_a) const {
    const LoadedOperand operand = operand_of(config_, request_, is_a);
    const OperandRows rows = operand.must_repack ? repacked_rows(operand, element()) : operand.rows;
    return map_of(config_.in, rows, is_a ? config_.a_box() : config_.b_box());
  }

  // The multiplying step of a kernel that applies the epilogue, with more parameters.
  Step fused(const LaunchShape& launch, const WgmmaParams& params) const {
    FusedParams all;
    std::memset(static_cast<void*>(&all), 0,
                sizeof all);  // WHY: equal steps have equal padding
    all.product = params;
    all.epilogue = fused_of(caller_.problem());
    Step step = writes_x_ ? with_x(launch, all) : step_of(Pass::kMultiply, row_.entry, launch, all);
    patch_fused(step, offsetof(FusedParams, epilogue), caller_.whole);
    return step;
  }

  // The multiplying step of a kernel that also writes an auxiliary output.
  Step with_x(const LaunchShape& launch, const FusedParams& fused) const {
    FusedXParams all;
    std::memset(static_cast<void*>(&all), 0, sizeof all);  // WHY: equal steps have equal padding
    std::memcpy(static_cast<void*>(&all.fused), &fused, sizeof fused);
    const Problem& p = caller_.problem();
    all.x.row = p.ldx;
    all.x.product = p.batch.stride_x * size_of(p.types.d);
    Step step = step_of(Pass::kMultiply, row_.entry, launch, all);
    if (!p.epilogue.writes_x()) return step;
    step.addresses.push_back({offsetof(FusedXParams, x) + offsetof(epilogue::X, values),
                              caller_.whole[OperandId::kX], Use::kWritten});
    return step;
  }

  // The matrices of partial sums are one below the other or, if they are transposed, side by side.
  // `part`: elements from one matrix to the next.
  struct PartialSums {
    std::int64_t rows, ld, part;
  };
  PartialSums partial_sums() const {
    const std::int64_t rows = tiles_.rows_per_k_part, columns = tiles_.partial_ld;
    if (decision_.is_exchanged) return {columns, rows * decision_.parts, rows};
    return {rows * decision_.parts, columns, rows * columns};
  }

  PlannedAddress address_of_d() const {
    return decision_.is_cut ? request_.temp(kPartialSums) : product_.d;
  }

  LaunchShape shape(std::int64_t tiles) const {
    const int ctas = config_.ctas();
    const std::int64_t most = std::max(request_.limits.sms * config_.per_sm / ctas, 1);
    LaunchShape shape{.grid = std::min(most, tiles) * ctas,
                      .block = row_.threads,
                      .shared_bytes = row_.shared_bytes};
    if (ctas > 1) shape.cluster[0] = ctas, shape.cluster[1] = shape.cluster[2] = 1;
    return shape;
  }

  // Adds the addresses and tensor maps that the multiplying step needs.
  void patch(Step& step, bool reads_ab) {
    constexpr std::size_t kGemm = offsetof(WgmmaParams, gemm);
    if (decision_.is_cut) {
      step.addresses.push_back({kGemm + offsetof(GemmParams, d), address_of_d(), Use::kWritten});
    } else {
      patch_product(step, kGemm, of_d_);
    }
    if (!reads_ab || is_listed(caller_)) return;
    const schedule::Batch of = batch();
    step.maps.push_back(
        {offsetof(WgmmaParams, a_map), with_products(map_of_operand(true), of.a), product_.a});
    step.maps.push_back(
        {offsetof(WgmmaParams, b_map), with_products(map_of_operand(false), of.b), product_.b});
  }

  Step reduce() const {
    const PartialMatrices partials{.parts = static_cast<int>(decision_.parts),
                                   .ld = partial_sums().ld,
                                   .part = partial_sums().part,
                                   .at = request_.temp(kPartialSums)};
    return reduce_parts_step(row_.reduce_entry, partials, of_d_, request_.limits.sms);
  }

  const KernelRow& row_;
  const Config& config_;
  const bool is_fused_, writes_x_;
  const Decision& decision_;
  const Request& caller_;   // with D in row-major order
  const Request request_;   // as the kernel multiplies: operands may be exchanged
  const WgmmaTiles tiles_;  // of request_
  Product product_;         // of request_, with copies instead of repacked operands
  const Product of_d_;      // of caller_
};

}  // namespace

std::vector<Step> wgmma_steps(const Offer& offer, const Request& request) {
  return WgmmaSteps(offer, request).all();
}

}  // namespace tessera::gemm
