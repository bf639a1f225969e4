#include "gemm/families/shared/wgmma_launches.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "gemm/families/shared/tensor_maps.h"
#include "gemm/steps/finish.h"
#include "kernels/families/wgmma/params.h"
#include "kernels/passes/params.h"

namespace tessera::gemm {
namespace {

using passes::ReduceParts;
using passes::Repack;
using passes::RepackParams;
using wgmma::Config;
using wgmma::FusedParams;
using wgmma::WgmmaParams;

// HW: a map of TFLOAT32 rounds floats to nearest on their way; wgmma would truncate them.
TensorType tensor_type_of(ptx::MatrixType type) {
  switch (type) {
    case ptx::MatrixType::kBF16:
      return TensorType::kBf16;
    case ptx::MatrixType::kF16:
      return TensorType::kF16;
    case ptx::MatrixType::kTF32:
      return TensorType::kTf32;
    default:
      throw StatusError(Status::unsupported("no kernel multiplies such a matrix type yet"));
  }
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
  const TensorType type = config.out == epilogue::Out::kF32    ? TensorType::kF32
                          : config.out == epilogue::Out::kBF16 ? TensorType::kBf16
                                                               : TensorType::kF16;
  TensorMapDesc desc = tensor_map_of(type, columns, rows, stride, config.d_box());
  desc.promotion = TensorPromotion::kNone;
  return desc;
}

}  // namespace

OperandRows repacked_rows(const LoadedOperand& operand, int bytes) {
  const OperandRows& wanted = operand.wanted;
  const std::int64_t line = bytes == 2 ? passes::kRepackedHalves : passes::kRepackedRow;
  return {wanted.inner, wanted.rows, ceil_div(wanted.inner, line) * line};
}

bool takes_batch(const Config& config, const Request& request) {
  const auto fits = [&](bool is_a) { return !operand_of(config, request, is_a).must_repack; };
  return config.ctas() == 1 && request.product.params.k > 0 && fits(true) && fits(false);
}

Request exchanged(Request request) {
  GemmParams& p = request.product.params;
  std::swap(p.m, p.n);
  std::swap(p.a_row, p.b_col);
  std::swap(p.a_col, p.b_row);
  std::swap(request.product.a, request.product.b);
  std::swap(request.a_alignment, request.b_alignment);
  const Majors majors = request.majors;
  request.majors.a = majors.b == Major::kK ? Major::kK : Major::kM;
  request.majors.b = majors.a == Major::kK ? Major::kK : Major::kN;
  return request;
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
  const bool asked = request.options.repack == Policy::kAlways;
  return {rows, rows_of(p, wants_k), transposed, p.k > 0 && (transposed || !mapped || asked)};
}

namespace {

// The copy of one operand, and the tiles that it takes.
Repack repack_of(const LoadedOperand& operand, int bytes) {
  // Rows of the copy are along `outer` in the words of the pass.
  const OperandRows to = repacked_rows(operand, bytes);
  Repack repack{nullptr, nullptr, to.inner, to.rows, 1, operand.rows.stride, to.stride, 0};
  if (operand.transposed) std::swap(repack.from_outer, repack.from_k);
  const passes::RepackTile tile =
      bytes == 2 ? passes::kRepackHalves : passes::repack_tile_of(repack.from_k);
  repack.tiles = ceil_div(repack.outer, tile.outer) * ceil_div(repack.k, tile.depth);
  return repack;
}

// What the launches of one plan are built from.
class Launches {
 public:
  Launches(const Offer& offer, const Request& request)
      : row_(*offer.row),
        config_(wgmma_config(row_)),
        is_fused_(offer.kernel->applies_epilogue),
        decision_(static_cast<const WgmmaDecision&>(*offer.decision)),
        request_(decision_.is_exchanged ? exchanged(request) : request),
        product_(request_.product),
        of_d_(request.product) {}

  std::vector<PlannedLaunch> all() {
    std::vector<PlannedLaunch> launches;
    launches.reserve(3);
    if (decision_.repack_a || decision_.repack_b) launches.push_back(repack());
    const bool has_sums = product_.params.k > 0;
    if (has_sums || !decision_.is_split) launches.push_back(multiply());
    if (decision_.is_split) launches.push_back(reduce());
    // WHY each may: all of its threads wait for the end of the launch before, ahead of any access
    // to memory. The first one waits for whatever the stream ran before.
    for (PlannedLaunch& planned : launches) {
      planned.launch.param_offsets = {0};
      planned.launch.shape.starts_early = planned.launch.entry != row_.repack_entry;
    }
    return launches;
  }

 private:
  int element() const { return ptx::bits_of(config_.in) / 8; }

  PlannedLaunch repack() {
    RepackParams repacks{};
    std::vector<AddressPatch> addresses;
    const auto add = [&](std::size_t at, Repack& to, bool is_a, Place& place, std::int64_t where) {
      to = repack_of(operand_of(config_, request_, is_a), element());
      addresses.push_back({at + offsetof(Repack, from), place});
      place = {Slot::kWorkspace, where};
      addresses.push_back({at + offsetof(Repack, to), place});
    };
    if (decision_.repack_a) {
      add(offsetof(RepackParams, a), repacks.a, true, product_.a, decision_.a);
    }
    if (decision_.repack_b) {
      add(offsetof(RepackParams, b), repacks.b, false, product_.b, decision_.b);
    }
    PlannedLaunch launch = launch_of(
        row_.repack_entry,
        {.grid = repacks.a.tiles + repacks.b.tiles, .block = passes::kRepackThreads}, repacks);
    launch.addresses = std::move(addresses);
    return launch;
  }

  // Groups that make what is in flight nearly square.
  schedule::Raster raster() const {
    const std::int64_t parts = decision_.is_split ? decision_.parts : 1;
    const int tiles_m = static_cast<int>(decision_.tiles_m * parts);
    const double wide = std::sqrt(static_cast<double>(request_.limits.sms) * config_.block.n *
                                  config_.cluster.n / (config_.block.m * config_.cluster.m));
    const auto group = std::max<std::int64_t>(std::llround(wide), 1);
    const std::int64_t groups = ceil_div(std::max(tiles_m, 1), group);
    return {tiles_m, static_cast<int>(decision_.tiles_n),
            static_cast<int>(ceil_div(std::max(tiles_m, 1), groups)), 1};
  }

  // Strides in bytes, of the operands as the kernel multiplies them.
  schedule::Batch batch() const {
    schedule::Batch batch = batch_of(request_.problem, 1);
    if (decision_.is_exchanged) std::swap(batch.a, batch.b);
    return batch;
  }

  void add_batch(WgmmaParams& params) const {
    const schedule::Batch of = batch();
    params.products = of.count;
    params.product_a = of.a == 0 ? 0 : 1, params.product_b = of.b == 0 ? 0 : 1;
    params.product_c = of.c, params.product_d = of.d;
  }

  // The matrices of a batch; all products may share one.
  TensorMapDesc with_products(TensorMapDesc desc, std::int64_t stride) const {
    const std::int64_t count = batch().count;
    if (count == 1) return desc;
    desc.rank = 3;
    desc.box[2] = 1;
    desc.sizes[2] = stride == 0 ? 1 : static_cast<std::uint64_t>(count);
    desc.strides[1] = stride == 0 ? desc.strides[0] : static_cast<std::uint64_t>(stride);
    return desc;
  }

  PlannedLaunch multiply() {
    WgmmaParams params{};
    add_batch(params);
    params.gemm = of_d_.params;
    params.transposed = decision_.is_exchanged ? 1 : 0;
    params.raster = raster();
    params.k_tiles = static_cast<int>(decision_.k_tiles);
    params.part_rows = std::numeric_limits<int>::max();
    GemmParams& p = params.gemm;
    if (decision_.is_split) {
      params.part_rows = static_cast<int>(decision_.part_rows);
      const PartialSums sums = partial_sums();
      p.m = sums.rows, p.n = p.d_row = sums.ld;
      p.alpha = 1, p.beta = 0;
    }
    const int alignment = decision_.is_split ? kMostAlignment : request_.d_alignment;
    const std::int64_t columns = epilogue::whole_columns(p.n, config_.out);
    const TensorMapDesc one = map_of_d(config_, columns, p.m, p.d_row);
    const bool copies_d = p.k > 0 && columns > 0 && can_be_mapped(one, alignment);
    const TensorMapDesc d = with_products(one, params.product_d);
    params.copied_columns = copies_d ? static_cast<int>(columns) : 0;
    PlannedLaunch launch =
        launch_of(row_.entry, shape(std::int64_t{params.raster.tiles()} * params.products), params);
    if (is_fused_) add_epilogue(launch, params);
    patch(launch, p.k > 0);
    if (copies_d) launch.maps.push_back({offsetof(WgmmaParams, d_map), d, place_of_d()});
    return launch;
  }

  // The larger parameter block of a kernel that applies the epilogue.
  void add_epilogue(PlannedLaunch& launch, const WgmmaParams& params) const {
    launch = launch_of(launch.launch.entry, launch.launch.shape,
                       FusedParams{params, fused_of(request_.problem)});
    patch_fused(launch, offsetof(FusedParams, epilogue), request_.problem.epilogue);
  }

  // How the matrices of partial sums lie: one below the other or, where they are transposed, side
  // by side.
  struct PartialSums {
    std::int64_t rows, ld, part;
  };
  PartialSums partial_sums() const {
    const std::int64_t rows = decision_.part_rows, columns = decision_.partial_ld;
    if (decision_.is_exchanged) return {columns, rows * decision_.parts, rows};
    return {rows * decision_.parts, columns, rows * columns};
  }

  Place place_of_d() const { return decision_.is_split ? Place{Slot::kWorkspace, 0} : product_.d; }

  LaunchShape shape(std::int64_t tiles) const {
    const int ctas = config_.ctas();
    const std::int64_t most = std::max(request_.limits.sms * config_.per_sm / ctas, 1);
    LaunchShape shape{.grid = std::min(most, tiles) * ctas,
                      .block = row_.threads,
                      .shared_bytes = row_.shared_bytes};
    if (ctas > 1) shape.cluster[0] = ctas, shape.cluster[1] = shape.cluster[2] = 1;
    return shape;
  }

  // Addresses and maps of what is multiplied.
  void patch(PlannedLaunch& launch, bool reads_ab) {
    constexpr std::size_t kGemm = offsetof(WgmmaParams, gemm);
    if (decision_.is_split) {
      launch.addresses.push_back({kGemm + offsetof(GemmParams, d), place_of_d()});
    } else {
      patch_product(launch, kGemm, of_d_);
    }
    if (!reads_ab) return;
    const auto map = [&](bool is_a) {
      const LoadedOperand operand = operand_of(config_, request_, is_a);
      const OperandRows rows =
          operand.must_repack ? repacked_rows(operand, element()) : operand.rows;
      return map_of(config_.in, rows, is_a ? config_.a_box() : config_.b_box());
    };
    const schedule::Batch of = batch();
    launch.maps.push_back(
        {offsetof(WgmmaParams, a_map), with_products(map(true), of.a), product_.a});
    launch.maps.push_back(
        {offsetof(WgmmaParams, b_map), with_products(map(false), of.b), product_.b});
  }

  PlannedLaunch reduce() const {
    ReduceParts params{};
    params.gemm = of_d_.params;
    params.ld = partial_sums().ld;
    params.part = partial_sums().part;
    params.parts = static_cast<int>(decision_.parts);
    params.slices = passes::slices_of_parts(params.parts);
    const std::int64_t vectors = passes::kReduceThreads / params.slices;
    const std::int64_t blocks = ceil_div(of_d_.params.m * ceil_div(of_d_.params.n, 4), vectors);
    const std::int64_t most = std::int64_t{passes::kPassCtasPerSm} * request_.limits.sms;
    PlannedLaunch launch =
        launch_of(row_.reduce_entry,
                  {.grid = std::min(blocks, most), .block = passes::kReduceThreads}, params);
    patch_product(launch, offsetof(ReduceParts, gemm), of_d_);
    launch.addresses.push_back({offsetof(ReduceParts, partials), {Slot::kWorkspace, 0}});
    return launch;
  }

  const KernelRow& row_;
  const Config& config_;
  const bool is_fused_;
  const WgmmaDecision& decision_;
  const Request request_;  // as the kernel multiplies it, maybe with its operands exchanged
  Product product_;        // of it, its operands maybe repacked
  const Product of_d_;     // as D lies
};

}  // namespace

std::vector<PlannedLaunch> wgmma_launches(const Offer& offer, const Request& request) {
  return Launches(offer, request).all();
}

}  // namespace tessera::gemm
