// The production kernels on CUDA cores: a persistent grid that walks a stream-K schedule. Tensor
// copies load the operands if their alignment allows it. The steps of a plan:
//
//   repack      operands in another layout than the row's, or not aligned, if that pays
//   multiply    one launch for each rectangle of D
//   reduce      if tiles of a rectangle are split: adds their partial sums
//
// The temps: a scratch tile for each CTA, for all rectangles; the partial sums of each rectangle;
// repacked A; repacked B.
#include "kernels/families/simt/params.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "gemm/families/shared/remainder.h"
#include "gemm/families/shared/repacked.h"
#include "gemm/families/shared/stream_k.h"
#include "gemm/families/shared/tensor_maps.h"

namespace tessera::gemm {
namespace {

using schedule::StreamK;
using simt::SimtParams;

// Whether a config row can multiply repacked operands. Only such rows may divide D in rectangles.
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

const KernelRow& repacked_row_of(const Kernel& kernel, std::string_view variant) {
  return *std::find_if(kernel.rows.begin(), kernel.rows.end(), [&](const KernelRow& row) {
    return row.variant == variant && takes_repacked(row);
  });
}

Needs needs_of(const KernelRow& row, const Request& request) {
  const GemmParams& p = request.product.params;
  if (!takes_repacked(row) || p.k == 0) return {};
  return {p.a_row != 1 || !can_be_mapped(map_of_a(row, p), request.a_alignment),
          p.b_col != 1 || !can_be_mapped(map_of_b(row, p), request.b_alignment)};
}

// From kPartials on, each rectangle of D has a temp for its partial sums.
struct SimtTemp {
  enum { kScratch, kPartials, kRepackedA = kPartials + Decision::kMostPieces, kRepackedB };
};

// A way to compute a product: the rectangles of D, and the operands that are repacked first.
struct Way {
  Way(const Rectangles& in, Needs copied, const GemmParams& p)
      : rectangles(in), needs(copied), temps(SimtTemp::kRepackedB + 1) {
    std::size_t partials = SimtTemp::kPartials;
    for (const Rectangle& r : rectangles) {
      const KernelRow& row = *r.row.row;
      const StreamK& schedule = r.scheduled.schedule;
      const std::int64_t scratch = std::int64_t{row.block.m} * row.block.n * kFloat * schedule.ctas;
      temps[SimtTemp::kScratch] = std::max(temps[SimtTemp::kScratch], scratch);
      temps[partials++] = partials_bytes(row, schedule, kFloat);
    }
    if (needs.a) temps[SimtTemp::kRepackedA] = repacked_bytes(p.m, p.k, kFloat);
    if (needs.b) temps[SimtTemp::kRepackedB] = repacked_bytes(p.n, p.k, kFloat);
  }

  Cost cost(const DeviceLimits& limits) const {
    Cost all = rectangles.cost(limits);
    all.repack =
        cost_of_repacking(temps[SimtTemp::kRepackedA] + temps[SimtTemp::kRepackedB], limits);
    return all;
  }

  Decision decision() const {
    Decision d{.repack = needs};
    for (const Rectangle& r : rectangles) {
      Piece& piece = d.list[d.count++];
      piece = piece_of(*r.row.row, r.m, r.n, r.scheduled.schedule);
      piece.m_begin = r.m_begin, piece.n_begin = r.n_begin;
    }
    return d;
  }

  std::int64_t bytes() const { return workspace_bytes(temps); }

  Rectangles rectangles;
  Needs needs;
  std::vector<std::int64_t> temps;
};

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
    return offer_variants(kernel_, variant, request_, offers,
                          [&](const Variant& one) { return add_one(one, offers); });
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

  Status add_one(const Variant& variant, std::vector<Offer>& offers) {
    if (!schedule::fits_schedule(params().m, params().n, params().k, variant.rows[0].block)) {
      return too_many_tiles(kernel_, request_);
    }
    const int priced_before = search_.priced();
    std::optional<Way> way = repacked(variant);
    if (!way) {
      const KernelRow* row = row_of_loads(variant, request_);
      if (!row) return Status::unsupported(kernel_.name + " has no row for these operands");
      way = planned({row, variant.tflops}, {});
    }
    offers.push_back({.kernel = &kernel_,
                      .row = way->rectangles.list[0].row.row,
                      .cost = way->cost(request_.limits),
                      .temps = std::move(way->temps),
                      .priced = search_.priced() - priced_before,
                      .decision = way->decision()});
    return {};
  }

  // The rectangles of the given decision; if they do not cover D exactly once,
  // all of D as one rectangle.
  Rectangles given(const RatedRow& row) const {
    const GemmParams& p = params();
    const Decision& decision = *request_.given;
    if (decision.count == 1) return search_.whole(row, Splitting(decision.list[0]));
    Rectangles all;
    for (const Piece& piece : decision.pieces()) {
      const Variant* variant = variant_named(piece.variant);
      const KernelRow* own = &piece == decision.list ? row.row : repacked_row(*variant);
      if (!own || !takes_repacked(*own)) return search_.whole(row, Policy::kNever);
      all.list[all.count++] = search_.rectangle({own, variant->tflops}, piece);
    }
    return is_tiling(decision.pieces(), p, row.row->block) ? all
                                                           : search_.whole(row, Policy::kNever);
  }
  const Variant* variant_named(std::string_view name) const {
    return &*std::find_if(variants_.begin(), variants_.end(),
                          [&](const Variant& one) { return one.name() == name; });
  }

  // Plans the cheapest rectangles or, if their temps exceed the workspace limit, one rectangle;
  // that one without split tiles, if partial sums would exceed the limit.
  Way planned(const RatedRow& row, Needs needs) {
    if (request_.given) return {given(row), needs, params()};
    const bool may_split = takes_repacked(*row.row);
    Way way(may_split ? search_.best(row) : search_.whole(row), needs, params());
    if (!fits(way)) way = Way(search_.whole(row), needs, params());
    if (!fits(way)) way = Way(search_.whole(row, Policy::kNever), needs, params());
    return way;
  }

  bool fits(const Way& way) const { return way.bytes() <= request_.options.workspace_limit; }

  // The plan with repacked operands; empty if no operand needs repacking, or
  // if repacking does not pay.
  std::optional<Way> repacked(const Variant& variant) {
    const PlanOptions& options = request_.options;
    const KernelRow* row = repacked_row(variant);
    if (!row || options.repack == Policy::kNever) return {};
    if (std::max({params().m, params().n, params().k}) > kMaxCoordinate) return {};
    const Needs needs = needs_of(*row, request_);
    if (!needs.any() || (request_.given && request_.given->repack != needs)) return {};
    const RatedRow rated{row, variant.tflops};
    if (request_.given) return planned(rated, needs);
    if (!fits(Way(search_.whole(rated, Policy::kNever), needs, params()))) return {};
    Way way = planned(rated, needs);
    if (options.repack == Policy::kAlways) return way;
    const double cost = way.cost(request_.limits).total();
    if (cost >= copying_cost(rated, needs).total()) return {};
    return way;
  }

  // The cost of a config row without repacking: operands that tensor copies do not take are
  // loaded element by element.
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

Product product_at(const Piece& r, const Product& whole) {
  const GemmParams& p = whole.params;
  return {product_of(r.m, r.n, p), whole.a.moved(r.m_begin * p.a_row * kFloat),
          whole.b.moved(r.n_begin * p.b_col * kFloat),
          whole.c.moved((r.m_begin * p.c_row + r.n_begin) * kFloat),
          whole.d.moved((r.m_begin * p.d_row + r.n_begin) * kFloat)};
}

// Adds the steps that multiply a rectangle and add the partial sums of its split tiles.
void add_piece(const Piece& piece, const KernelRow& row, const Product& whole,
               PlannedAddress partials, const Request& request, std::vector<Step>& steps) {
  const Product product = product_at(piece, whole);
  SimtParams params{};
  params.gemm = product.params;
  params.schedule = schedule_of(piece, row, request);
  const std::size_t multiply =
      add_stream_k_steps(row, params, product, partials, request.limits, steps);
  add_maps(steps[multiply], row, product, offsetof(SimtParams, a_map), offsetof(SimtParams, b_map));
  for (std::size_t i = multiply; i < steps.size(); ++i) {
    steps[i].addresses.push_back(
        {offsetof(SimtParams, scratch), request.temp(SimtTemp::kScratch), Use::kWritten});
  }
}

class Simt final : public Family {
 public:
  Status offer(const Kernel& kernel, std::string_view variant, const Request& request,
               std::vector<Offer>& offers) const override {
    return SimtOffers(kernel, request).add(variant, offers);
  }

  std::vector<Step> steps(const Offer& offer, const Request& request) const override {
    const Decision& decision = offer.decision;
    Request loaded = request;
    std::vector<Step> steps;
    steps.reserve(7);
    if (decision.repack.any()) {
      steps.push_back(repack_operands(offer.row->repack_entry, decision.repack,
                                      SimtTemp::kRepackedA, SimtTemp::kRepackedB, loaded));
    }
    int partials = SimtTemp::kPartials;
    for (const Piece& piece : decision.pieces()) {
      const bool is_first = &piece == decision.list;
      const KernelRow& row = is_first ? *offer.row : repacked_row_of(*offer.kernel, piece.variant);
      add_piece(piece, row, loaded.product, request.temp(partials++), request, steps);
    }
    for (Step& step : steps) {
      // WHY: the driver must align a parameter block with 64-byte tensor maps.
      step.launch.param_offsets = {0};
      // WHY steps may start early: all blocks of a step wait for the end of the previous
      // launch before any access that another launch could disturb. So when a launch has
      // ended, all launches before it have.
      step.launch.shape.starts_early = &step != &steps.front();
    }
    return steps;
  }
};

}  // namespace

const Family& simt_family() {
  static const Simt family;
  return family;
}

}  // namespace tessera::gemm
