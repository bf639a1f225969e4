// Rungs 34 to 44: BF16 on Hopper's tensor cores, operands by tensor copies. The steps of a plan:
//
//   repack      in rung 43: operands that tensor copies do not take as they are
//   multiply    a CTA for each tile of D, or a persistent grid
//   reduce      in rung 44: adds the partial sums of split tiles
//
// All rungs but 43 take one layout, with bases and rows at multiples of 16 bytes, and refuse other
// operands by name.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "gemm/families/shared/stream_k.h"
#include "gemm/families/shared/tensor_maps.h"
#include "gemm/steps/repack.h"
#include "ladder/44_stream_k/config.h"
#include "ladder/shared/warpgroup_config.h"

namespace tessera::gemm {
namespace {

using ladder::WarpgroupConfig;
using ladder::WarpgroupParams;

constexpr int kHalf = 2;  // bytes of an element
constexpr std::int64_t kMostTilesOfARung = std::int64_t{1} << 30;

const WarpgroupConfig& config_of(const KernelRow& row) {
  return *static_cast<const WarpgroupConfig*>(row.config);
}

// The map of `rows` rows of `inner` adjacent elements, `stride` elements apart. The stride
// of a single row is unused.
TensorMapDesc map_of(std::int64_t inner, std::int64_t rows, std::int64_t stride, TensorBox box) {
  const std::int64_t least = std::max<std::int64_t>((inner + 7) / 8 * 8, 8);
  return tensor_map_of(TensorType::kBf16, inner, rows, rows > 1 ? stride : least, box);
}

// An operand as rows in memory: `rows` rows of `inner` adjacent elements, `stride` elements apart.
struct Operand {
  std::int64_t inner, rows, stride;
  TensorBox box;
  int alignment;
  PlannedAddress at;

  TensorMapDesc map() const { return map_of(inner, rows, stride, box); }
  bool is_mapped() const { return can_be_mapped(map(), alignment); }
  std::int64_t repacked_bytes() const {
    return is_mapped() ? 0 : gemm::repacked_bytes(inner, rows, kHalf);
  }
};

Operand a_of(const WarpgroupConfig& config, const Request& request) {
  const GemmParams& p = request.product.params;
  const bool along_k = config.majors.a == Major::kK;
  return {along_k ? p.k : p.m, along_k ? p.m : p.k, along_k ? p.a_row : p.a_col,
          config.a_box(),      request.a_alignment, request.product.a};
}
Operand b_of(const WarpgroupConfig& config, const Request& request) {
  const GemmParams& p = request.product.params;
  const bool along_k = config.majors.b == Major::kK;
  return {along_k ? p.k : p.n, along_k ? p.n : p.k, along_k ? p.b_col : p.b_row,
          config.b_box(),      request.b_alignment, request.product.b};
}

// The map of the whole 16-byte pieces of D's rows: a tensor copy would
// write all of a partial piece.
TensorMapDesc map_of_d(const WarpgroupConfig& config, const GemmParams& p) {
  TensorMapDesc desc = map_of(p.n / 8 * 8, p.m, p.d_row, config.d_box());
  desc.promotion = TensorPromotion::kNone;
  return desc;
}

class Warpgroups final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    return offer_variants(kernel, variant, request, offers, [&](const Variant& one) -> Status {
      const KernelRow& row = row_of(one, request);
      if (Status status = takes(kernel, row, request); !status.ok()) return status;
      offers.push_back({.kernel = &kernel,
                        .row = &row,
                        .cost = cost_of_tiles({&row, one.tflops}, request.product.params,
                                              size_of(kernel.types.a), request.limits),
                        .temps = temps(row, request)});
      return {};
    });
  }

  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    const KernelRow& row = *offer.row;
    Operand a = a_of(config_of(row), request), b = b_of(config_of(row), request);
    if (!row.reduce_entry.empty()) return split_steps(row, a, b, request);
    std::vector<Step> steps;
    if (offer.workspace_bytes() > 0) steps.push_back(repack(row, a, b, request));
    steps.push_back(multiply(row, a, b, request));
    return steps;
  }

 private:
  static bool reads_operands(const Request& request) {
    return request.product.params.k > 0 && !request.is_empty();
  }
  static const KernelRow& row_of(const Variant& variant, const Request& request) {
    return variant.rows.size() == 1 ? variant.rows.front() : row_of_majors(variant, request);
  }
  static std::vector<std::int64_t> temps(const KernelRow& row, const Request& request) {
    if (!reads_operands(request)) return {0, 0};
    if (!row.reduce_entry.empty()) {
      return {partials_bytes(row, schedule_of(row, request), sizeof(float))};
    }
    return {a_of(config_of(row), request).repacked_bytes(),
            b_of(config_of(row), request).repacked_bytes()};
  }

  static Status takes(const Kernel& kernel, const KernelRow& row, const Request& request) {
    const GemmParams& p = request.product.params;
    const WarpgroupConfig& config = config_of(row);
    if (std::max({p.m, p.n, p.k}) > kMostTilesOfARung ||
        ceil_div(p.m, config.block.m) * ceil_div(p.n, config.block.n) > kMostTilesOfARung) {
      return too_many_tiles(kernel, request, "2^30 elements along each side");
    }
    if (!reads_operands(request)) return {};
    if (request.majors.a != config.majors.a || request.majors.b != config.majors.b) {
      return Status::unsupported("layout is " + layout_text(request) + ", but " + kernel.name +
                                 " multiplies NN alone; other rungs take any layout");
    }
    const bool mapped = a_of(config, request).is_mapped() && b_of(config, request).is_mapped();
    if (mapped || !row.repack_entry.empty()) return {};
    return Status::unsupported("A or B, or a row of it, begins at no multiple of 16 bytes, but " +
                               kernel.name +
                               " loads both by tensor copies; other rungs take any alignment");
  }

  // Copies the operands that tensor copies do not take, and changes `a` and `b` to the copies.
  static Step repack(const KernelRow& row, Operand& a, Operand& b, const Request& request) {
    const auto copied = [&](Operand& operand, int temp) -> std::optional<RepackedOperand> {
      if (operand.is_mapped()) return {};
      const RepackedOperand copy{operand.inner,  operand.rows, 1,
                                 operand.stride, operand.at,   request.temp(temp)};
      operand.stride = repacked_ld(operand.inner, kHalf);
      operand.at = copy.to;
      return copy;
    };
    const auto copy_of_a = copied(a, 0);
    return repack_step(row.repack_entry, kHalf, copy_of_a, copied(b, 1));
  }

  static Step multiply(const KernelRow& row, const Operand& a, const Operand& b,
                       const Request& request) {
    const WarpgroupConfig& config = config_of(row);
    WarpgroupParams params{};
    const GemmParams& p = params.gemm = request.product.params;
    params.raster = raster_of(config, p, request.limits.sms);
    params.k_tiles = static_cast<int>(ceil_div(p.k, config.block.k));
    const TensorMapDesc d = map_of_d(config, p);
    const bool copies_d =
        config.store_buffers > 0 && p.k > 0 && p.n >= 8 && can_be_mapped(d, request.d_alignment);
    if (copies_d) params.copied_columns = static_cast<int>(d.sizes[0]);
    Step step =
        step_of(Pass::kMultiply, row.entry, shape_of(row, params.raster.tiles(), request), params);
    // WHY: the driver must align a parameter block with 64-byte tensor maps.
    step.launch.param_offsets = {0};
    patch_product(step, offsetof(WarpgroupParams, gemm), request.product);
    if (p.k > 0) {
      step.maps.push_back({offsetof(WarpgroupParams, a_map), a.map(), a.at});
      step.maps.push_back({offsetof(WarpgroupParams, b_map), b.map(), b.at});
    }
    if (copies_d) {
      step.maps.push_back({offsetof(WarpgroupParams, d_map), d, request.product.d, Use::kWritten});
    }
    return step;
  }

  static schedule::StreamK schedule_of(const KernelRow& row, const Request& request) {
    const WarpgroupConfig& config = config_of(row);
    const GemmParams& p = request.product.params;
    const schedule::Raster raster = raster_of(config, p, request.limits.sms);
    return stream_k::schedule_of(raster.tiles_m, raster.tiles_n,
                                 static_cast<int>(ceil_div(p.k, config.block.k)),
                                 request.limits.sms, raster.group);
  }

  // The steps of rung 44. Both launches find the schedule in their parameters, which are equal.
  static std::vector<Step> split_steps(const KernelRow& row, const Operand& a, const Operand& b,
                                       const Request& request) {
    stream_k::Params params{};
    params.gemm = request.product.params;
    params.schedule = schedule_of(row, request);
    std::vector<Step> steps;
    add_stream_k_steps(row, params, request.product, request.temp(0), request.limits, steps);
    if (params.gemm.k > 0) {
      steps[0].maps = {{offsetof(stream_k::Params, a_map), a.map(), a.at},
                       {offsetof(stream_k::Params, b_map), b.map(), b.at}};
    }
    for (Step& step : steps) step.launch.param_offsets = {0};  // WHY: as in multiply() above
    return steps;
  }

  // The order of the clusters' tiles. Groups make the set of tiles in flight nearly square.
  static schedule::Raster raster_of(const WarpgroupConfig& config, const GemmParams& p, int sms) {
    const int block_m = config.block.m * config.cluster.m,
              block_n = config.block.n * config.cluster.n;
    const int tiles_m = static_cast<int>(ceil_div(p.m, block_m));
    const int tiles_n = static_cast<int>(ceil_div(p.n, block_n));
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
