// The production kernels on CUDA cores: a persistent grid that walks a stream-K schedule, operands
// loaded by tensor copies where their alignment allows it. The launches of a plan:
//
//   repack      operands of another form than the row's, or not aligned, where that pays
//   multiply    one for each rectangle of D
//   reduce      after it, where tiles are split: their partials
//
// The workspace holds a scratch tile for each CTA, shared by the rectangles; the partials of each
// rectangle; repacked A; repacked B. All at multiples of 256 bytes.
#include "kernels/families/simt/params.h"

#include <algorithm>
#include <cstddef>

#include "gemm/families/schedule_text.h"
#include "gemm/family.h"
#include "gemm/passes/repack.h"
#include "gemm/remainder.h"
#include "gemm/tensor_maps.h"

namespace tessera::gemm {
namespace {

using schedule::StreamK;
using simt::SimtParams;

constexpr int kFloat = sizeof(float);

// The rows that operands are repacked for, and that D may be split among.
bool takes_repacked(const KernelRow& row) {
  return !row.repack_entry.empty() && row.majors.a == Major::kM && row.majors.b == Major::kN &&
         row.loads.a == Load::kTma && row.loads.b == Load::kTma;
}

const KernelRow* repacked_row(const Variant& variant) {
  for (const KernelRow& row : variant.rows) {
    if (takes_repacked(row)) return &row;
  }
  return nullptr;
}

Needs needs_of(const KernelRow& row, const Request& request) {
  const GemmParams& p = request.product.params;
  if (!takes_repacked(row) || p.k == 0) return {};
  return {p.a_row != 1 || !can_be_mapped(map_of_a(row, p), request.a_alignment),
          p.b_col != 1 || !can_be_mapped(map_of_b(row, p), request.b_alignment)};
}

// What an offer has settled.
class SimtDecision final : public Decision {
 public:
  SimtDecision(const Rectangles& in, Needs needs, const GemmParams& p) : rectangles(in) {
    std::int64_t end = 0;  // of what has its place
    for (const Rectangle& r : rectangles) {
      end = std::max(end, with_workspace_alignment(r.scheduled.schedule.ctas * tile_bytes(r)));
    }
    for (int i = 0; i < rectangles.count; ++i) {
      const Rectangle& r = rectangles.list[i];
      partials[i] = end;
      end += with_workspace_alignment(schedule::slots_of(r.scheduled.schedule) * tile_bytes(r));
    }
    repacked = Repacked::at(end, needs, p);
  }

  Cost cost(const DeviceLimits& limits) const {
    Cost all = rectangles.cost(limits);
    all.repack = cost_of_repacking(repacked.bytes(), limits);
    return all;
  }

  std::string text() const override;

  std::int64_t bytes() const { return repacked.end; }

  Rectangles rectangles;
  std::int64_t partials[3] = {};  // where they begin in the workspace
  Repacked repacked;

 private:
  static std::int64_t tile_bytes(const Rectangle& r) {
    return std::int64_t{r.row.row->block.m} * r.row.row->block.n * kFloat;
  }
};

// "396 tiles, 116 tiles split in 132 runs"; of several rectangles that of the first one, with the
// variants that multiply the others: "512 tiles; 128x16, 64x128".
std::string SimtDecision::text() const {
  std::string text = schedule_text(rectangles.list[0].scheduled.schedule);
  for (int i = 1; i < rectangles.count; ++i) {
    text += (i == 1 ? "; " : ", ") + rectangles.list[i].row.row->variant;
  }
  return text;
}

// The offers of one kernel for one request.
class SimtOffers {
 public:
  SimtOffers(const Kernel& kernel, const Request& request)
      : kernel_(kernel),
        request_(request),
        variants_(variants_with_rates(kernel, request.limits)),
        search_(small_rows(), request.product.params, request.limits, request.options.split,
                request.options.remainder) {}

  Status add(std::string_view variant, std::vector<Offer>& offers) {
    Status refused;
    const std::size_t before = offers.size();
    for (const Variant& one : variants_) {
      if (!variant.empty() && one.name() != variant) continue;
      if (Status status = add_one(one, offers); !status.ok()) refused = std::move(status);
    }
    return offers.size() > before ? Status{} : refused;
  }

 private:
  const GemmParams& params() const { return request_.product.params; }

  std::vector<RatedRow> small_rows() const {
    std::vector<RatedRow> rows;
    for (const Variant& variant : variants_) {
      if (const KernelRow* row = repacked_row(variant)) rows.push_back({row, variant.tflops});
    }
    return rows;
  }

  Status too_many_tiles() const {
    return Status::unsupported("m is " + std::to_string(request_.problem.m) + ", n is " +
                               std::to_string(request_.problem.n) + " and k is " +
                               std::to_string(request_.problem.k) + ", but " + kernel_.name +
                               " counts at most 2^30 tiles, and as many along k");
  }

  Status add_one(const Variant& variant, std::vector<Offer>& offers) {
    if (!schedule::fits_schedule(params().m, params().n, params().k, variant.rows[0].block)) {
      return too_many_tiles();
    }
    const int priced_before = search_.priced();
    std::shared_ptr<const SimtDecision> decision = repacked(variant);
    if (!decision) {
      const KernelRow* row = row_of_loads(variant, request_);
      if (!row) return Status::unsupported(kernel_.name + " has no row for these operands");
      decision = planned({row, variant.tflops}, {});
    }
    const RatedRow& row = decision->rectangles.list[0].row;
    offers.push_back(
        {&kernel_, row.row, request_.is_empty() ? Cost{} : decision->cost(request_.limits),
         request_.is_empty() ? 0 : decision->bytes(), search_.priced() - priced_before, decision});
    return {};
  }

  // In the rectangles that cost least or, where those do not fit the workspace, in one.
  std::shared_ptr<const SimtDecision> planned(const RatedRow& row, Needs needs) {
    const bool may_split = takes_repacked(*row.row);
    const Rectangles best = may_split ? search_.best(row) : search_.whole(row);
    auto decision = std::make_shared<const SimtDecision>(best, needs, params());
    if (best.count == 1 || decision->bytes() <= request_.options.workspace_limit) return decision;
    return std::make_shared<const SimtDecision>(search_.whole(row), needs, params());
  }

  // The variant with repacked operands; null where none needs it, or where it does not pay.
  std::shared_ptr<const SimtDecision> repacked(const Variant& variant) {
    const PlanOptions& options = request_.options;
    const KernelRow* row = repacked_row(variant);
    if (!row || options.repack == Policy::kNever) return nullptr;
    if (std::max({params().m, params().n, params().k}) > kMaxCoordinate) return nullptr;
    const Needs needs = needs_of(*row, request_);
    if (!needs.any()) return nullptr;
    const RatedRow rated{row, variant.tflops};
    const SimtDecision least(search_.whole(rated), needs, params());
    if (least.bytes() > options.workspace_limit) return nullptr;
    auto decision = planned(rated, needs);
    if (options.repack == Policy::kAlways) return decision;
    const double cost = decision->cost(request_.limits).total();
    return cost < copying_cost(rated, needs).total() ? decision : nullptr;
  }

  // The row as it would be if nothing were repacked: element by element what tensor copies do not
  // take.
  Cost copying_cost(const RatedRow& rated, Needs needs) const {
    const GemmParams& p = params();
    OperandModes modes{rated.row->majors, rated.row->loads};
    if (needs.a) modes.loads.a = Load::kCpAsync4;
    if (needs.b) modes.loads.b = Load::kCpAsync4;
    if (p.a_row != 1) modes.majors.a = Major::kK;
    if (p.b_col != 1) modes.majors.b = Major::kK;
    return cost_of_persistent(rated, modes, p, request_.limits, request_.options.split).cost;
  }

  const Kernel& kernel_;
  const Request& request_;
  std::vector<Variant> variants_;
  RemainderSearch search_;
};

Product product_at(const Rectangle& r, const Product& whole) {
  const GemmParams& p = whole.params;
  return {product_of(r, p), whole.a.moved(r.m_begin * p.a_row * kFloat),
          whole.b.moved(r.n_begin * p.b_col * kFloat),
          whole.c.moved((r.m_begin * p.c_row + r.n_begin) * kFloat),
          whole.d.moved((r.m_begin * p.d_row + r.n_begin) * kFloat)};
}

// Multiplies a rectangle and adds the partials of its split tiles.
void add_launches(const Rectangle& rectangle, std::int64_t partials, const Product& whole, int sms,
                  std::vector<PlannedLaunch>& launches) {
  const KernelRow& row = *rectangle.row.row;
  const Product product = product_at(rectangle, whole);
  SimtParams params{};
  params.gemm = product.params;
  params.schedule = rectangle.scheduled.schedule;
  const StreamK& schedule = params.schedule;
  const auto add = [&](const std::string& entry, const LaunchShape& shape) -> PlannedLaunch& {
    PlannedLaunch& launch = launches.emplace_back(launch_of(entry, shape, params));
    patch_product(launch, offsetof(SimtParams, gemm), product);
    launch.addresses.push_back({offsetof(SimtParams, partials), {Slot::kWorkspace, partials}});
    launch.addresses.push_back({offsetof(SimtParams, scratch), {Slot::kWorkspace, 0}});
    return launch;
  };
  add_maps(add(row.entry,
               {.grid = schedule.ctas, .block = row.threads, .shared_bytes = row.shared_bytes}),
           row, product, offsetof(SimtParams, a_map), offsetof(SimtParams, b_map));
  if (schedule.split_tiles() == 0) return;
  const std::int64_t pieces = std::int64_t{schedule.split_tiles()} *
                              passes::reduce_pieces(schedule, row.block.m, row.block.n);
  const std::int64_t blocks = std::int64_t{passes::kPassCtasPerSm} * sms;
  add(row.reduce_entry, {.grid = std::min(pieces, blocks), .block = passes::kReduceThreads});
}

class Simt final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    return SimtOffers(kernel, request).add(variant, offers);
  }

  std::vector<PlannedLaunch> launches(const Offer& offer, const Request& request) const override {
    const auto& decision = static_cast<const SimtDecision&>(*offer.decision);
    Product product = request.product;
    std::vector<PlannedLaunch> launches;
    launches.reserve(7);
    if (decision.repacked.needs.any()) {
      launches.push_back(repack_launch(offer.row->repack_entry, decision.repacked, product));
    }
    for (int i = 0; i < decision.rectangles.count; ++i) {
      add_launches(decision.rectangles.list[i], decision.partials[i], product, request.limits.sms,
                   launches);
    }
    for (PlannedLaunch& planned : launches) {
      // WHY: only the driver knows where a block of 64-byte maps begins.
      planned.launch.param_offsets = {0};
      // WHY each may: all of its blocks wait for the end of the launch before, ahead of any access
      // that another launch could disturb. So the end of one is the end of all before it.
      planned.launch.shape.starts_early = &planned != &launches.front();
    }
    return launches;
  }
};

}  // namespace

const Family& simt_family() {
  static const Simt family;
  return family;
}

}  // namespace tessera::gemm
