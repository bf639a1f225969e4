// Rungs 34 to 44: BF16 on Hopper's tensor cores, operands by tensor copies. The launches of a plan:
//
//   repack      of rung 43: operands that tensor copies do not take as they are
//   multiply    a CTA for each tile of D, or a persistent grid
//   reduce      of rung 44: adds the partial sums of split tiles
//
// All but 43 take one layout, and bases and rows at multiples of 16 bytes; what they do not take
// they refuse by name.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "gemm/family.h"
#include "gemm/tensor_maps.h"
#include "kernels/passes/params.h"
#include "ladder/44_stream_k/config.h"
#include "ladder/shared/warpgroup_config.h"

namespace tessera::gemm {
namespace {

using ladder::WarpgroupConfig;
using ladder::WarpgroupParams;
using passes::Repack;
using passes::RepackParams;

constexpr std::int64_t kMostTilesOfARung = std::int64_t{1} << 30;

const WarpgroupConfig& config_of(const KernelRow& row) {
  return *static_cast<const WarpgroupConfig*>(row.config);
}

// The map of a matrix whose rows are `inner` neighbours, `stride` elements apart. The stride of a
// single row is nobody's.
TensorMapDesc map_of(std::int64_t inner, std::int64_t rows, std::int64_t stride, TensorBox box) {
  const std::int64_t least = std::max<std::int64_t>((inner + 7) / 8 * 8, 8);
  return tensor_map_of(TensorType::kBf16, inner, rows, rows > 1 ? stride : least, box);
}

// An operand as its rows lie in memory.
struct Operand {
  std::int64_t inner, rows, stride;
  TensorBox box;
  int alignment;
  Place place;

  TensorMapDesc map() const { return map_of(inner, rows, stride, box); }
  bool is_mapped() const { return can_be_mapped(map(), alignment); }
  // Its copy in the workspace begins every row at a whole line.
  std::int64_t repacked_stride() const {
    return (inner + passes::kRepackedHalves - 1) / passes::kRepackedHalves *
           passes::kRepackedHalves;
  }
  std::int64_t repacked_bytes() const { return is_mapped() ? 0 : 2 * rows * repacked_stride(); }
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
    for (const Variant& one : variants_with_rates(kernel, request.limits)) {
      if (!variant.empty() && one.name() != variant) continue;
      const KernelRow& row = row_of(one, request);
      if (Status status = takes(kernel, row, request); !status.ok()) return status;
      offers.push_back({&kernel, &row,
                        cost_of_tiles({&row, one.tflops}, request.product.params,
                                      size_of(kernel.types.a), request.limits),
                        reads_operands(request) ? workspace_bytes(row, request) : 0});
    }
    return {};
  }

  std::vector<PlannedLaunch> launches(const Offer& offer, const Request& request) const override {
    const KernelRow& row = *offer.row;
    Operand a = a_of(config_of(row), request), b = b_of(config_of(row), request);
    if (!row.reduce_entry.empty()) return split_launches(row, a, b, request);
    std::vector<PlannedLaunch> launches;
    if (offer.workspace_bytes > 0) {
      launches.push_back(repack(row, a, b, b_begins(row, request)));
    }
    launches.push_back(multiply(row, a, b, request));
    return launches;
  }

 private:
  static bool reads_operands(const Request& request) {
    return request.product.params.k > 0 && !request.is_empty();
  }
  static const KernelRow& row_of(const Variant& variant, const Request& request) {
    return variant.rows.size() == 1 ? variant.rows.front() : row_of_majors(variant, request);
  }
  static std::int64_t workspace_bytes(const KernelRow& row, const Request& request) {
    if (!row.reduce_entry.empty()) {
      const std::int64_t tile = std::int64_t{row.block.m} * row.block.n * sizeof(float);
      return schedule::slots_of(schedule_of(row, request)) * tile;
    }
    return b_begins(row, request) + b_of(config_of(row), request).repacked_bytes();
  }
  // Where repacked B lies in the workspace: behind repacked A.
  static std::int64_t b_begins(const KernelRow& row, const Request& request) {
    const std::int64_t bytes = a_of(config_of(row), request).repacked_bytes();
    return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
  }

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
    if (!reads_operands(request)) return {};
    if (request.majors.a != config.majors.a || request.majors.b != config.majors.b) {
      return Status::unsupported("layout is " + layout_of(request.problem) + ", but " +
                                 kernel.name + " multiplies NN alone; other rungs take any layout");
    }
    const bool mapped = a_of(config, request).is_mapped() && b_of(config, request).is_mapped();
    if (mapped || !row.repack_entry.empty()) return {};
    return Status::unsupported("A or B, or a row of it, begins at no multiple of 16 bytes, but " +
                               kernel.name +
                               " loads both by tensor copies; other rungs take any alignment");
  }

  // Rows of `operand` to the workspace, where it is found from then on.
  static Repack repack_of(Operand& operand, std::int64_t where) {
    Repack repack{
        nullptr, nullptr, operand.inner, operand.rows, 1, operand.stride, operand.repacked_stride(),
        0};
    repack.tiles = tiles_along(repack.outer, passes::kRepackHalves.outer) *
                   tiles_along(repack.k, passes::kRepackHalves.depth);
    operand.stride = operand.repacked_stride();
    operand.place = {Slot::kWorkspace, where};
    return repack;
  }
  static PlannedLaunch repack(const KernelRow& row, Operand& a, Operand& b, std::int64_t b_begins) {
    RepackParams params{};
    std::vector<AddressPatch> addresses;
    const auto add = [&](std::size_t at, Repack& to, Operand& operand, std::int64_t where) {
      if (operand.is_mapped()) return;
      addresses.push_back({at + offsetof(Repack, from), operand.place});
      to = repack_of(operand, where);
      addresses.push_back({at + offsetof(Repack, to), operand.place});
    };
    add(offsetof(RepackParams, a), params.a, a, 0);
    add(offsetof(RepackParams, b), params.b, b, b_begins);
    PlannedLaunch launch = launch_of(
        row.repack_entry,
        {.grid = params.a.tiles + params.b.tiles, .block = passes::kRepackThreads}, params);
    launch.addresses = std::move(addresses);
    return launch;
  }

  static PlannedLaunch multiply(const KernelRow& row, const Operand& a, const Operand& b,
                                const Request& request) {
    const WarpgroupConfig& config = config_of(row);
    WarpgroupParams params{};
    const GemmParams& p = params.gemm = request.product.params;
    params.raster = raster_of(config, p, request.limits.sms);
    params.k_tiles = static_cast<int>(tiles_along(p.k, config.block.k));
    const TensorMapDesc d = map_of_d(config, p);
    const bool copies_d =
        config.store_buffers > 0 && p.k > 0 && p.n >= 8 && can_be_mapped(d, request.d_alignment);
    if (copies_d) params.copied_columns = static_cast<int>(d.sizes[0]);
    PlannedLaunch launch =
        launch_of(row.entry, shape_of(row, params.raster.tiles(), request), params);
    // WHY: only the driver knows where a block of 64-byte maps begins.
    launch.launch.param_offsets = {0};
    patch_product(launch, offsetof(WarpgroupParams, gemm), request.product);
    if (p.k > 0) {
      launch.maps.push_back({offsetof(WarpgroupParams, a_map), a.map(), a.place});
      launch.maps.push_back({offsetof(WarpgroupParams, b_map), b.map(), b.place});
    }
    if (copies_d) {
      launch.maps.push_back({offsetof(WarpgroupParams, d_map), d, request.product.d});
    }
    return launch;
  }

  static schedule::StreamK schedule_of(const KernelRow& row, const Request& request) {
    const WarpgroupConfig& config = config_of(row);
    const GemmParams& p = request.product.params;
    const schedule::Raster raster = raster_of(config, p, request.limits.sms);
    return stream_k::schedule_of(raster.tiles_m, raster.tiles_n,
                                 static_cast<int>(tiles_along(p.k, config.block.k)),
                                 request.limits.sms, raster.group);
  }

  // Of rung 44. All of both launches' blocks find the schedule in the same parameters.
  static std::vector<PlannedLaunch> split_launches(const KernelRow& row, const Operand& a,
                                                   const Operand& b, const Request& request) {
    stream_k::Params params{};
    params.gemm = request.product.params;
    params.schedule = schedule_of(row, request);
    const schedule::StreamK& s = params.schedule;
    std::vector<PlannedLaunch> launches = {launch_of(
        row.entry, {.grid = s.ctas, .block = row.threads, .shared_bytes = row.shared_bytes},
        params)};
    if (params.gemm.k > 0) {
      launches[0].maps = {{offsetof(stream_k::Params, a_map), a.map(), a.place},
                          {offsetof(stream_k::Params, b_map), b.map(), b.place}};
    }
    if (s.split_tiles() > 0) {
      const std::int64_t pieces =
          std::int64_t{s.split_tiles()} * passes::reduce_pieces(s, row.block.m, row.block.n);
      const std::int64_t most = std::int64_t{passes::kPassCtasPerSm} * request.limits.sms;
      launches.push_back(
          launch_of(row.reduce_entry,
                    {.grid = std::min(pieces, most), .block = passes::kReduceThreads}, params));
    }
    for (PlannedLaunch& launch : launches) {
      launch.launch.param_offsets = {0};  // WHY: as above
      patch_product(launch, offsetof(stream_k::Params, gemm), request.product);
      launch.addresses.push_back({offsetof(stream_k::Params, partials), {Slot::kWorkspace, 0}});
    }
    return launches;
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
