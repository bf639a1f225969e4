// Rungs 34 to 42: BF16 on Hopper's tensor cores, operands by tensor copies. One launch: a CTA for
// each tile of D, or a persistent grid. They take one layout, and bases and rows at multiples of 16
// bytes; what they do not take they refuse by name.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "gemm/family.h"
#include "gemm/tensor_maps.h"
#include "ladder/shared/warpgroup_config.h"

namespace tessera::gemm {
namespace {

using ladder::WarpgroupConfig;
using ladder::WarpgroupParams;

constexpr std::int64_t kMostTilesOfARung = std::int64_t{1} << 30;

const WarpgroupConfig& config_of(const KernelRow& row) {
  return *static_cast<const WarpgroupConfig*>(row.config);
}

// A operand of one row has no stride that anybody reads.
TensorMapDesc map_of(std::int64_t inner, std::int64_t rows, std::int64_t stride, TensorBox box) {
  const std::int64_t least = std::max<std::int64_t>((inner + 7) / 8 * 8, 8);
  return tensor_map_of(TensorType::kBf16, inner, rows, rows > 1 ? stride : least, box);
}
TensorMapDesc map_of_a(const WarpgroupConfig& config, const GemmParams& p) {
  return map_of(p.k, p.m, p.a_row, config.a_box());
}
TensorMapDesc map_of_b(const WarpgroupConfig& config, const GemmParams& p) {
  return map_of(p.n, p.k, p.b_row, config.b_box());
}
// Whole pieces of 16 bytes of each row: a copy would write the rest of the last one, too.
TensorMapDesc map_of_d(const WarpgroupConfig& config, const GemmParams& p) {
  TensorMapDesc desc = map_of(p.n / 8 * 8, p.m, p.d_row, config.d_box());
  desc.promotion = TensorPromotion::kNone;
  return desc;
}

class Warpgroups final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    for (const Variant& one : variants_with_rates(kernel)) {
      if (!variant.empty() && one.name() != variant) continue;
      const KernelRow& row = one.rows.front();
      if (Status status = takes(kernel, row, request); !status.ok()) return status;
      offers.push_back({&kernel, &row,
                        cost_of_tiles({&row, one.tflops}, request.product.params,
                                      size_of(kernel.types.a), request.limits),
                        0});
    }
    return {};
  }

  std::vector<PlannedLaunch> launches(const Offer& offer, const Request& request) const override {
    const WarpgroupConfig& config = config_of(*offer.row);
    WarpgroupParams params{};
    GemmParams& p = params.gemm = request.product.params;
    params.raster = raster_of(config, p, request.limits.sms);
    params.k_tiles = static_cast<int>(tiles_along(p.k, config.block.k));
    const TensorMapDesc d = map_of_d(config, p);
    const bool copies_d =
        config.store_buffers > 0 && p.k > 0 && p.n >= 8 && can_be_mapped(d, request.d_alignment);
    if (copies_d) params.copied_columns = static_cast<int>(d.sizes[0]);
    PlannedLaunch launch =
        launch_of(offer.row->entry, shape_of(*offer.row, params.raster.tiles(), request), params);
    // WHY: only the driver knows where a block of 64-byte maps begins.
    launch.launch.param_offsets = {0};
    const Product& product = request.product;
    patch_product(launch, offsetof(WarpgroupParams, gemm), product);
    if (p.k > 0) {
      launch.maps.push_back({offsetof(WarpgroupParams, a_map), map_of_a(config, p), product.a});
      launch.maps.push_back({offsetof(WarpgroupParams, b_map), map_of_b(config, p), product.b});
    }
    if (copies_d) launch.maps.push_back({offsetof(WarpgroupParams, d_map), d, product.d});
    return {std::move(launch)};
  }

 private:
  static Status takes(const Kernel& kernel, const KernelRow& row, const Request& request) {
    const GemmParams& p = request.product.params;
    const WarpgroupConfig& config = config_of(row);
    if (std::max({p.m, p.n, p.k}) > kMostTilesOfARung ||
        tiles_along(p.m, config.block.m) * tiles_along(p.n, config.block.n) > kMostTilesOfARung) {
      return Status::unsupported("m is " + std::to_string(request.problem.m) + ", n is " +
                                 std::to_string(request.problem.n) + " and k is " +
                                 std::to_string(request.problem.k) + ", but " + kernel.name +
                                 " counts at most 2^30 tiles, and 2^30 elements along each side");
    }
    if (p.k == 0 || request.is_empty()) return {};  // A and B are not read
    if (request.majors.a != config.majors.a || request.majors.b != config.majors.b) {
      return Status::unsupported("layout is " + std::string(layout_of(request.problem)) + ", but " +
                                 kernel.name + " multiplies NN alone; other rungs take any layout");
    }
    if (can_be_mapped(map_of_a(config, p), request.a_alignment) &&
        can_be_mapped(map_of_b(config, p), request.b_alignment)) {
      return {};
    }
    return Status::unsupported("A or B, or a row of it, begins at no multiple of 16 bytes, but " +
                               kernel.name +
                               " loads both by tensor copies; other rungs take any alignment");
  }

  // Of clusters' tiles. Groups make what is in flight nearly square.
  static schedule::Raster raster_of(const WarpgroupConfig& config, const GemmParams& p, int sms) {
    const int block_m = config.block.m * config.cluster.m,
              block_n = config.block.n * config.cluster.n;
    const int tiles_m = static_cast<int>(tiles_along(p.m, block_m));
    const int tiles_n = static_cast<int>(tiles_along(p.n, block_n));
    const double square = std::sqrt(static_cast<double>(sms) * block_n / block_m);
    const int group = config.grouped ? std::max(static_cast<int>(std::lround(square)), 1) : 1;
    return {tiles_m, tiles_n, group, 1};
  }

  static LaunchShape shape_of(const KernelRow& row, std::int64_t tiles, const Request& request) {
    const WarpgroupConfig& config = config_of(row);
    const int ctas = config.ctas_of_cluster();
    const std::int64_t resident = std::max(request.limits.sms * config.ctas / ctas, 1);
    LaunchShape shape{.grid = (config.persistent ? std::min(resident, tiles) : tiles) * ctas,
                      .block = row.threads,
                      .shared_bytes = row.shared_bytes};
    if (ctas > 1) shape.cluster[0] = ctas, shape.cluster[1] = shape.cluster[2] = 1;
    return shape;
  }
};

}  // namespace

const Family& warpgroups_family() {
  static const Warpgroups family;
  return family;
}

}  // namespace tessera::gemm
