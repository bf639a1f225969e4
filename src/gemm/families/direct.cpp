// FP32 products on Hopper's CUDA cores whose operands stay as they are: a persistent grid that
// walks a stream-K schedule. The steps of a plan:
//
//   repack      operands of a single product, if that pays: one operand is much smaller
//   multiply    all of D, of all products of a batch
//   reduce      if tiles are split: adds their partial sums
//
// The temps: a scratch tile for each CTA if the row needs one, the partial sums, repacked operands.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "gemm/families/shared/repacked.h"
#include "gemm/families/shared/stream_k.h"
#include "gemm/families/shared/tensor_maps.h"
#include "gemm/vectors.h"
#include "kernels/families/simt/direct_config.h"
#include "kernels/families/simt/direct_params.h"

namespace tessera::gemm {
namespace {

using schedule::StreamK;
using simt_direct::DirectParams;

std::int64_t tile_bytes(const KernelRow& row) {
  return std::int64_t{row.block.m} * row.block.n * kFloat;
}

// Whether D is stored through shared memory: not if fragments along k occupy the
// registers (simt_direct::Config).
bool stores_through_shared(const KernelRow& row) {
  const bool a_along_k = row.loads.a == Load::kTma && row.majors.a == Major::kK;
  const bool b_along_k = row.loads.b == Load::kTma && row.majors.b == Major::kK;
  return !a_along_k && !b_along_k;
}

struct DirectTemp {
  enum { kScratch, kPartials, kRepackedA, kRepackedB };
};
std::vector<std::int64_t> direct_temps(const StreamK& schedule, Needs needs, const KernelRow& row,
                                       const GemmParams& p) {
  return {stores_through_shared(row) ? 0 : schedule.ctas * tile_bytes(row),
          partials_bytes(row, schedule, kFloat), needs.a ? repacked_bytes(p.m, p.k, kFloat) : 0,
          needs.b ? repacked_bytes(p.n, p.k, kFloat) : 0};
}

// An operand as rows in memory: `outer` rows of `inner` adjacent elements, `stride` elements apart.
struct Rows {
  long long inner, outer, stride;
  std::int64_t product_stride;  // bytes
};
Rows rows_of_a(const Request& request, const schedule::Batch& batch) {
  const GemmParams& p = request.product.params;
  if (request.majors.a == Major::kK) return {p.k, p.m, p.a_row, batch.a};
  return {p.m, p.k, p.a_col, batch.a};
}
Rows rows_of_b(const Request& request, const schedule::Batch& batch) {
  const GemmParams& p = request.product.params;
  if (request.majors.b == Major::kK) return {p.k, p.n, p.b_col, batch.b};
  return {p.n, p.k, p.b_row, batch.b};
}

// The tensor map for all products. For an operand along k, dimension 1 of the map has every fourth
// row, and dimension 2 selects one of the four sets of rows.
TensorMapDesc map_of(const Rows& rows, bool along_k, TensorBox box, std::int64_t products) {
  TensorMapDesc desc = tensor_map_of(TensorType::kF32, rows.inner, rows.outer, rows.stride, box);
  std::size_t last = 2;
  if (along_k) {
    desc.sizes[1] /= 4, desc.sizes[2] = desc.box[2] = 4;
    desc.strides[1] = desc.strides[0];
    desc.strides[0] *= 4;
    last = 3;
  }
  const bool is_shared = products == 1 || rows.product_stride == 0;
  desc.rank = static_cast<int>(last) + 1;
  desc.sizes[last] = is_shared ? 1 : static_cast<std::uint64_t>(products);
  desc.box[last] = 1;
  desc.strides[last - 1] =
      is_shared ? desc.strides[0] : static_cast<std::uint64_t>(rows.product_stride);
  return desc;
}

bool is_mapped(const Rows& rows, bool along_k, const TensorMapDesc& desc, int alignment) {
  return (!along_k || rows.outer % 4 == 0) && can_be_mapped(desc, alignment);
}

// The tensor maps that a config row needs for a request.
struct Maps {
  TensorMapDesc a, b;
  bool are_legal;
};
Maps maps_of(const KernelRow& row, const Request& request) {
  const schedule::Batch batch = batch_of(request, 1);
  const bool a_along_k = row.majors.a == Major::kK, b_along_k = row.majors.b == Major::kK;
  const bool has_a = row.loads.a == Load::kTma, has_b = row.loads.b == Load::kTma;
  const Rows rows_a = rows_of_a(request, batch), rows_b = rows_of_b(request, batch);
  Maps maps{.are_legal = true};
  if (has_a) {
    maps.a = map_of(rows_a, a_along_k, row.a_box, batch.count);
    maps.are_legal &= is_mapped(rows_a, a_along_k, maps.a, request.a_alignment);
  }
  if (has_b) {
    maps.b = map_of(rows_b, b_along_k, row.b_box, batch.count);
    maps.are_legal &= is_mapped(rows_b, b_along_k, maps.b, request.b_alignment);
  }
  return maps;
}

// The share of the measured rate that a config row reaches. The rate is measured with both operands
// across k, loaded by tensor copies. HW: 64 products of 512x512x512 on an H200 (direct_config.h);
// single products with k = 8192 to 262144, and with m or n = 64.
double share_of_rate(const KernelRow& row) {
  constexpr double kAlongKByMap = 0.88, kByElements = 0.88, kSecondByElements = 0.91;
  constexpr double kFewByElements = 0.95;   // tiles of 64 columns and 256 rows, A across k
  constexpr double kManyByElements = 0.79;  // the other operand's side of a tile is 64
  constexpr double kLongColumn = 0.91;      // estimate: A along k by elements, over 128 rows
  const bool a_by_map = row.loads.a == Load::kTma, b_by_map = row.loads.b == Load::kTma;
  double share = 1;
  if (a_by_map && row.majors.a == Major::kK) share *= kAlongKByMap;
  if (b_by_map && row.majors.b == Major::kK) share *= kAlongKByMap;
  const bool few = row.block.n <= 64 && row.block.m >= 256 && row.majors.a == Major::kM;
  const bool many = (!a_by_map && row.block.n <= 64) || (!b_by_map && row.block.m <= 64);
  if (!a_by_map || !b_by_map) share *= few ? kFewByElements : many ? kManyByElements : kByElements;
  if (!a_by_map && !b_by_map && !many) share *= kSecondByElements;
  if (!a_by_map && row.majors.a == Major::kK && row.block.m > 128) share *= kLongColumn;
  return share;
}

// The factor of the multiplying time that the cost model misses. HW: in a last wave of one CTA per
// SM, four warps with 16x8 outputs per thread take as long as eight warps.
double loneliness(const KernelRow& row, const StreamK& schedule, int sms) {
  constexpr double kExpected = 0.65;  // share of a full wave, in the model
  const int slots = sms * row.ctas_per_sm, rest = schedule.whole_tiles % slots;
  const bool is_alone = row.ctas_per_sm == 2 && row.thread.m >= 16 && rest > 0 && rest <= sms &&
                        schedule.split_tiles() == 0;
  const int waves = schedule.whole_tiles / slots;
  return is_alone ? (waves + 1) / (waves + kExpected) : 1;
}

Scheduled scheduled_for(const RatedRow& rated, const Request& request, Splitting split) {
  const GemmParams& p = request.product.params;
  // WHY the best modes: the rate already includes how the operands are loaded.
  const OperandModes modes{{Major::kM, Major::kN}, {Load::kTma, Load::kTma}};
  if (request.is_batch()) {
    return cost_of_batch(rated, modes, p, request.limits, request.products(), true);
  }
  Scheduled scheduled = cost_of_persistent(rated, modes, p, request.limits, split);
  scheduled.cost.multiply *= loneliness(*rated.row, scheduled.schedule, request.limits.sms);
  return scheduled;
}

class Direct final : public Family {
 public:
  bool takes(const Batch&) const override { return true; }

  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    const bool may_overhang = request.is_batch() || request.options.kernel;
    return offer_variants(kernel, variant, request, offers, [&](const Variant& one) {
      if (!may_overhang && overhangs(one, request.product.params)) {
        return Status::unsupported("tiles of " + kernel.name + " lie outside of D");
      }
      return add(kernel, one, request, offers);
    });
  }

  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    const KernelRow& row = *offer.row;
    const Needs needs = offer.decision.repack;
    std::vector<Step> steps;
    steps.reserve(3);
    Request loaded = request;
    if (needs.any()) {
      steps.push_back(repack_operands(row.repack_entry, needs, DirectTemp::kRepackedA,
                                      DirectTemp::kRepackedB, loaded));
      steps[0].launch.param_offsets = {0};
    }
    DirectParams params{};
    params.gemm = loaded.product.params;
    params.schedule = schedule_of(offer.decision.list[0], row, request);
    params.batch = batch_of(request, ceil_div(params.gemm.m, row.block.m));
    const std::size_t multiply = add_stream_k_steps(
        row, params, loaded.product, request.temp(DirectTemp::kPartials), request.limits, steps);
    add_maps(row, loaded, steps[multiply]);
    for (std::size_t i = multiply; i < steps.size(); ++i) {
      // WHY steps may start early: all blocks of a step wait for the end of the previous launch.
      steps[i].launch.shape.starts_early = i > 0;
      steps[i].launch.param_offsets = {0};  // WHY: the driver must align 64-byte tensor maps
      steps[i].addresses.push_back(
          {offsetof(DirectParams, scratch), request.temp(DirectTemp::kScratch), Use::kWritten});
    }
    return steps;
  }

 private:
  // Whether more than a twentieth of the tiles' outputs are outside of D. HW: 200x30000x500 NN took
  // 202 us by simt_f32, which has smaller tiles for the remainder, and 212 us in tiles of 256x128
  // (results/variants/fp32_direct_thin.json).
  static bool overhangs(const Variant& variant, const GemmParams& p) {
    const auto covered = [](long long extent, int block) {
      return static_cast<double>(ceil_div(extent, block)) * block;
    };
    const BlockTile& block = variant.rows[0].block;
    return covered(p.m, block.m) * covered(p.n, block.n) >
           1.05 * static_cast<double>(p.m) * static_cast<double>(p.n);
  }

  static Status add(const Kernel& kernel, const Variant& variant, const Request& request,
                    std::vector<Offer>& offers) {
    const GemmParams& p = request.product.params;
    const BlockTile block = variant.rows[0].block;
    if (!schedule::fits_schedule(p.m, p.n, p.k, block, request.products())) {
      return too_many_tiles(kernel, request);
    }
    std::optional<Offer> best;
    for (const Needs needs : worth_pricing(request)) {
      std::optional<Offer> one = offer_after(needs, kernel, variant, request);
      if (one && (!best || is_better(*one, *best, request.options))) best = std::move(one);
    }
    if (!best) {
      return Status::unsupported("variant " + std::string(variant.name()) + " of " + kernel.name +
                                 " loads operands of this layout by tensor copies: k above 0, and "
                                 "bases, rows and strides at multiples of 16 bytes");
    }
    offers.push_back(std::move(*best));
    return {};
  }

  // The sets of operands that may be repacked, the empty set first.
  // Repacked operands lie across k.
  static std::vector<Needs> worth_pricing(const Request& request) {
    const GemmParams& p = request.product.params;
    const bool is_possible = !request.is_batch() && p.k > 0 &&
                             request.options.repack != Policy::kNever && !request.is_empty() &&
                             std::max({p.m, p.n, p.k}) <= kMaxCoordinate;
    if (!is_possible) return {{}};
    if (request.given) return {request.given->repack};
    const bool a = request.majors.a == Major::kK || !is_aligned(p.a_col, request.a_alignment);
    const bool b = request.majors.b == Major::kK || !is_aligned(p.b_row, request.b_alignment);
    if (request.options.repack == Policy::kAlways) return {{a, b}};
    std::vector<Needs> all = {{}};
    if (a) all.push_back({true, false});
    if (b) all.push_back({false, true});
    if (a && b) all.push_back({true, true});
    return all;
  }
  static bool is_aligned(long long stride, int alignment) {
    return alignment % kMostAlignment == 0 && are_whole_vectors(stride, sizeof(float));
  }

  // An offer within the workspace limit is better than an offer above it. Of two offers within the
  // limit, the cheaper one is better; of two above it, the one with the smaller workspace.
  static bool is_better(const Offer& one, const Offer& other, const PlanOptions& options) {
    const auto fits = [&](const Offer& o) {
      return o.workspace_bytes() <= options.workspace_limit;
    };
    if (fits(one) != fits(other)) return fits(one);
    if (!fits(one)) return one.workspace_bytes() < other.workspace_bytes();
    return one.cost.total() < other.cost.total();
  }

  // An offer with the split that the model chooses or, if that exceeds the
  // workspace limit, without a split.
  static std::optional<Offer> offer_after(Needs needs, const Kernel& kernel, const Variant& variant,
                                          const Request& request) {
    const Request loaded = request_after_repack(request, needs);
    const KernelRow* fitting = row_of(variant, loaded);
    if (!fitting) return {};
    const KernelRow& row = *fitting;
    const RatedRow rated{.row = &row,
                         .tflops = variant.tflops * share_of_rate(row),
                         .stores_through_shared = stores_through_shared(row),
                         .costs = &Coefficients::direct};
    const GemmParams& p = request.product.params;
    const auto offer_with = [&](Splitting split) {
      const Scheduled chosen = scheduled_for(rated, loaded, split);
      Offer offer{
          .kernel = &kernel,
          .row = &row,
          .cost = chosen.cost,
          .temps = direct_temps(chosen.schedule, needs, row, p),
          .decision = {
              .repack = needs, .list = {piece_of(row, p.m, p.n, chosen.schedule)}, .count = 1}};
      offer.cost.repack = cost_of_repacking(
          offer.temps[DirectTemp::kRepackedA] + offer.temps[DirectTemp::kRepackedB],
          request.limits);
      return offer;
    };
    if (request.given) return offer_with(Splitting(request.given->list[0]));
    Offer offer = offer_with(request.options.split);
    const bool fits = offer.workspace_bytes() <= request.options.workspace_limit;
    return fits ? offer : offer_with(Policy::kNever);
  }

  // The first row of the layout that can load the operands; null if there is none. WHY no maps if k
  // is 0: the kernel copies a stage of zeros after the last stage, and no size in a map may be 0.
  static const KernelRow* row_of(const Variant& variant, const Request& request) {
    const bool may_have_maps =
        request.product.params.k > 0 && request.problem().batch.kind != BatchKind::kPointers;
    for (const KernelRow& row : variant.rows) {
      if (row.majors.a != request.majors.a || row.majors.b != request.majors.b) continue;
      const bool has_maps = row.loads.a == Load::kTma || row.loads.b == Load::kTma;
      if (!has_maps || (may_have_maps && maps_of(row, request).are_legal)) return &row;
    }
    return nullptr;
  }

  static void add_maps(const KernelRow& row, const Request& request, Step& step) {
    const Maps maps = maps_of(row, request);
    if (row.loads.a == Load::kTma) {
      step.maps.push_back({offsetof(DirectParams, a_map), maps.a, request.product.a});
    }
    if (row.loads.b == Load::kTma) {
      step.maps.push_back({offsetof(DirectParams, b_map), maps.b, request.product.b});
    }
  }
};

}  // namespace

const Family& direct_family() {
  static const Direct family;
  return family;
}

}  // namespace tessera::gemm
