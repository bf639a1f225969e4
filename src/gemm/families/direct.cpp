// FP32 products on Hopper's CUDA cores whose operands stay as they are: a persistent grid that
// walks a stream-K schedule. The launches of a plan:
//
//   multiply    all of D, of all products of a batch
//   reduce      after it, where tiles are split: adds their partials
//
// The workspace holds a scratch tile for each CTA, and behind them the partials.
#include <algorithm>
#include <cstddef>

#include "gemm/families/schedule_text.h"
#include "gemm/family.h"
#include "gemm/tensor_maps.h"
#include "kernels/families/simt/direct_config.h"
#include "kernels/families/simt/direct_params.h"

namespace tessera::gemm {
namespace {

using schedule::StreamK;
using simt_direct::DirectParams;

std::int64_t tile_bytes(const KernelRow& row) {
  return std::int64_t{row.block.m} * row.block.n * sizeof(float);
}

class DirectDecision final : public Decision {
 public:
  DirectDecision(const KernelRow& row, const StreamK& chosen)
      : schedule(chosen),
        partials(with_workspace_alignment(chosen.ctas * tile_bytes(row))),
        bytes(partials + schedule::slots_of(chosen) * tile_bytes(row)) {}

  std::string text() const override { return schedule_text(schedule); }

  StreamK schedule;
  std::int64_t partials;  // where they begin in the workspace
  std::int64_t bytes;
};

// An operand as its rows lie in memory.
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

// The map of all products. Of an operand along k each fourth row is the neighbour of another, and
// the last dimension but one says which.
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

// The maps that a row of the catalog needs for one request.
struct Maps {
  TensorMapDesc a, b;
  bool are_legal;
};
Maps maps_of(const KernelRow& row, const Request& request) {
  const schedule::Batch batch = batch_of(request.problem, 1);
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

// Of the rate with both operands across k, by tensor copies. HW: 64 products of 512x512x512 on an
// H200 (direct_config.h).
double share_of_rate(const KernelRow& row) {
  constexpr double kAlongKByMap = 0.89, kByElements = 0.88, kSecondByElements = 0.93;
  constexpr double kLongColumn = 0.91;  // more than 128 rows along k, by elements; an estimate
  const bool a_by_map = row.loads.a == Load::kTma, b_by_map = row.loads.b == Load::kTma;
  double share = 1;
  if (a_by_map && row.majors.a == Major::kK) share *= kAlongKByMap;
  if (b_by_map && row.majors.b == Major::kK) share *= kAlongKByMap;
  if (!a_by_map || !b_by_map) share *= kByElements;
  if (!a_by_map && !b_by_map) share *= kSecondByElements;
  if (!a_by_map && row.majors.a == Major::kK && row.block.m > 128) share *= kLongColumn;
  return share;
}

// Scheduled by the model or, where that does not fit the workspace, in whole tiles.
Scheduled scheduled_for(const RatedRow& rated, const Request& request) {
  const KernelRow& row = *rated.row;
  const GemmParams& p = request.product.params;
  // How operands are loaded is in the rate.
  const OperandModes modes{{Major::kM, Major::kN}, {Load::kTma, Load::kTma}};
  if (request.problem.batch.kind != BatchKind::kNone) {
    return cost_of_batch(rated, modes, p, request.limits, request.problem.batch.count, true);
  }
  const auto scheduled = [&](Policy split) {
    return cost_of_persistent(rated, modes, p, request.limits, split);
  };
  const Scheduled best = scheduled(request.options.split);
  const bool fits = DirectDecision(row, best.schedule).bytes <= request.options.workspace_limit;
  return fits ? best : scheduled(Policy::kNever);
}

class Direct final : public Family {
 public:
  bool takes(const Batch&) const override { return true; }

  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    Status refused = Status::unsupported(kernel.name + " is for batches");
    // One product is for kernels that were measured with it. Who names this one gets it.
    if (request.problem.batch.kind == BatchKind::kNone && !request.options.kernel) return refused;
    for (const Variant& one : variants_with_rates(kernel)) {
      if (!variant.empty() && one.name() != variant) continue;
      if (Status status = add(kernel, one, request, offers); !status.ok()) refused = status;
    }
    return offers.empty() ? refused : Status{};
  }

  std::vector<PlannedLaunch> launches(const Offer& offer, const Request& request) const override {
    const KernelRow& row = *offer.row;
    const auto& decision = static_cast<const DirectDecision&>(*offer.decision);
    const StreamK& schedule = decision.schedule;
    DirectParams params{};
    params.gemm = request.product.params;
    params.schedule = schedule;
    params.batch = batch_of(request.problem, tiles_along(params.gemm.m, row.block.m));
    std::vector<PlannedLaunch> launches;
    launches.reserve(2);
    const auto add = [&](const std::string& entry, const LaunchShape& shape) {
      PlannedLaunch& launch = launches.emplace_back(launch_of(entry, shape, params));
      patch_product(launch, offsetof(DirectParams, gemm), request.product);
      launch.addresses.push_back(
          {offsetof(DirectParams, partials), {Slot::kWorkspace, decision.partials}});
      launch.addresses.push_back({offsetof(DirectParams, scratch), {Slot::kWorkspace, 0}});
      launch.launch.param_offsets = {0};  // WHY: only the driver knows where 64-byte maps begin
    };
    add(row.entry, {.grid = schedule.ctas, .block = row.threads, .shared_bytes = row.shared_bytes});
    add_maps(row, request, launches[0]);
    if (schedule.split_tiles() == 0) return launches;
    const std::int64_t pieces = std::int64_t{schedule.split_tiles()} *
                                passes::reduce_pieces(schedule, row.block.m, row.block.n);
    const std::int64_t blocks = std::int64_t{passes::kPassCtasPerSm} * request.limits.sms;
    add(row.reduce_entry, {.grid = std::min(pieces, blocks), .block = passes::kReduceThreads});
    // WHY it may: all of its blocks wait for the end of the launch before.
    launches[1].launch.shape.starts_early = true;
    return launches;
  }

 private:
  static Status add(const Kernel& kernel, const Variant& variant, const Request& request,
                    std::vector<Offer>& offers) {
    const GemmParams& p = request.product.params;
    const KernelRow& row = row_of(variant, request);
    const Problem& problem = request.problem;
    if (!schedule::fits_schedule(p.m, p.n, p.k, row.block, problem.batch.count)) {
      return Status::unsupported("m is " + std::to_string(problem.m) + ", n is " +
                                 std::to_string(problem.n) + " and k is " +
                                 std::to_string(problem.k) + ", but " + kernel.name +
                                 " counts at most 2^30 tiles, and as many along k");
    }
    const Scheduled best = scheduled_for({&row, variant.tflops * share_of_rate(row)}, request);
    auto decision = std::make_shared<const DirectDecision>(row, best.schedule);
    const std::int64_t bytes = request.is_empty() ? 0 : decision->bytes;
    offers.push_back(
        {&kernel, &row, request.is_empty() ? Cost{} : best.cost, bytes, 1, std::move(decision)});
    return {};
  }

  // The first row of the layout that can load the operands; the last one takes any. WHY no maps
  // without k: the stage of zeros behind the last one is a copy, too, and a map has no size of 0.
  static const KernelRow& row_of(const Variant& variant, const Request& request) {
    const bool may_have_maps =
        request.product.params.k > 0 && request.problem.batch.kind != BatchKind::kPointers;
    const KernelRow* fitting = nullptr;
    for (const KernelRow& row : variant.rows) {
      if (row.majors.a != request.majors.a || row.majors.b != request.majors.b) continue;
      fitting = &row;
      if (may_have_maps && maps_of(row, request).are_legal) break;
    }
    return *fitting;
  }

  static void add_maps(const KernelRow& row, const Request& request, PlannedLaunch& launch) {
    const Maps maps = maps_of(row, request);
    if (row.loads.a == Load::kTma) {
      launch.maps.push_back({offsetof(DirectParams, a_map), maps.a, request.product.a});
    }
    if (row.loads.b == Load::kTma) {
      launch.maps.push_back({offsetof(DirectParams, b_map), maps.b, request.product.b});
    }
  }
};

}  // namespace

const Family& direct_family() {
  static const Direct family;
  return family;
}

}  // namespace tessera::gemm
