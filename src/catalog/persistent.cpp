#include "catalog/persistent.h"

#include <algorithm>
#include <cstddef>

#include "catalog/edges.h"
#include "kernels/schedule/choose_stream_k.h"
#include "kernels/simt/params.h"
#include "ladder/15_producer_warp/config.h"

namespace tessera::catalog {
namespace {

using scheduler::StreamK;
using simt::SimtParams;

constexpr TensorSwizzle swizzle_of(int bytes) {
  return bytes == 128  ? TensorSwizzle::k128B
         : bytes == 64 ? TensorSwizzle::k64B
         : bytes == 32 ? TensorSwizzle::k32B
                       : TensorSwizzle::kNone;
}

// An operand as the copy engine sees it: `inner` elements lie side by side, rows are `stride`
// apart.
TensorMapDesc map_of(const void* data, long long inner, long long outer, long long stride,
                     TensorBox box) {
  const auto address = reinterpret_cast<std::uint64_t>(data);
  TensorMapDesc desc;
  desc.address = address ? address : 256;  // an unknown address stands for an aligned one
  desc.sizes = {static_cast<std::uint64_t>(inner), static_cast<std::uint64_t>(outer)};
  desc.strides = {static_cast<std::uint64_t>(stride) * sizeof(float)};
  desc.box = {static_cast<std::uint32_t>(box.inner), static_cast<std::uint32_t>(box.outer)};
  desc.swizzle = swizzle_of(box.swizzle);
  desc.promotion = TensorPromotion::k256B;
  return desc;
}

TensorMapDesc map_of_a(const KernelRow& row, const GemmParams& p) {
  return row.sides.a == Contiguous::kK ? map_of(p.a, p.k, p.m, p.a_row, row.a_box)
                                       : map_of(p.a, p.m, p.k, p.a_col, row.a_box);
}
TensorMapDesc map_of_b(const KernelRow& row, const GemmParams& p) {
  return row.sides.b == Contiguous::kK ? map_of(p.b, p.k, p.n, p.b_col, row.b_box)
                                       : map_of(p.b, p.n, p.k, p.b_row, row.b_box);
}

// HW: coordinates of tensor copies are signed 32-bit (PTX ISA, cp.async.bulk.tensor).
constexpr long long kMaxCoordinate = 0x7fffffff;

bool can_be_mapped(const TensorMapDesc& desc) {
  constexpr auto most = static_cast<std::uint64_t>(kMaxCoordinate);
  return check(desc).ok() && desc.sizes[0] <= most && desc.sizes[1] <= most;
}

template <class Params>
Launch launch_of(const std::string& entry, std::int64_t grid, int block, const Params& params) {
  return {.entry = entry,
          .shape = {.grid = grid, .block = block},
          .params = bytes_of(params),
          .param_offsets = {0}};  // WHY: only the driver knows where a block of 64-byte maps begins
}

// The maps of operands that the row fetches by tensor copies.
template <class Params>
void add_tensor_maps(Launch& launch, const KernelRow& row, const GemmParams& p) {
  if (row.fetches.a == Fetch::kTensor) {
    launch.tensor_maps.push_back({offsetof(Params, a_map), map_of_a(row, p)});
  }
  if (row.fetches.b == Fetch::kTensor) {
    launch.tensor_maps.push_back({offsetof(Params, b_map), map_of_b(row, p)});
  }
}

// Where a turned operand stands: (k, outer), rows as the copy engine likes them: whole lines.
long long turned_ld(long long outer) {
  return scheduler::pieces(outer, simt::kTurnedRow) * simt::kTurnedRow;
}
std::int64_t turned_bytes(long long outer, long long k) {
  return turned_ld(outer) * k * static_cast<std::int64_t>(sizeof(float));
}

// Which operands this row would need in another form than they have.
struct Needs {
  bool a, b;
};
Needs turns_needed(const KernelRow& row, const GemmParams& p) {
  if (!takes_turned(row) || p.k == 0) return {false, false};
  return {p.a_row != 1 || !can_be_mapped(map_of_a(row, p)),
          p.b_col != 1 || !can_be_mapped(map_of_b(row, p))};
}

std::int64_t aligned(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

// A region, its schedule, and where the parts of its cut tiles stand in the workspace.
struct Scheduled {
  Region region;
  StreamK schedule;
  std::int64_t parts;

  std::int64_t tile_bytes() const {
    return std::int64_t{region.row->block.m} * region.row->block.n * sizeof(float);
  }
};

// The workspace: a scratch tile for each CTA, of the regions one after the other; parts of each
// region; turned A; turned B. All at multiples of 256 bytes.
struct Layout {
  std::vector<Scheduled> regions;
  std::int64_t a, b, bytes;

  std::int64_t turned_bytes() const { return bytes - a; }
};
Layout layout_of(const std::vector<Region>& regions, const GemmParams& p, Needs needs,
                 const PlanContext& context) {
  Layout layout{};
  std::int64_t end = 0;  // of what has its place
  for (const Region& region : regions) {
    layout.regions.push_back({region, schedule_of(*region.row, product_of(region, p), context), 0});
    const Scheduled& added = layout.regions.back();
    end = std::max(end, aligned(added.schedule.ctas * added.tile_bytes()));
  }
  for (Scheduled& scheduled : layout.regions) {
    scheduled.parts = end;
    end += aligned(scheduler::slots_of(scheduled.schedule) * scheduled.tile_bytes());
  }
  layout.a = end;
  layout.b = layout.a + (needs.a ? aligned(turned_bytes(p.m, p.k)) : 0);
  layout.bytes = layout.b + (needs.b ? aligned(turned_bytes(p.n, p.k)) : 0);
  return layout;
}

simt::Turn turn_of(const void* from, long long outer, long long k, long long from_outer,
                   long long from_k, DeviceAddress to) {
  const simt::TurnTile tile = simt::turn_tile_of(from_k);
  return {static_cast<const float*>(from),
          reinterpret_cast<float*>(to),
          outer,
          k,
          from_outer,
          from_k,
          turned_ld(outer),
          scheduler::pieces(outer, tile.outer) * scheduler::pieces(k, tile.depth)};
}

// The launch that turns; the problem then names what it leaves behind.
Launch turn_operands(const KernelRow& row, GemmParams& p, Needs needs, const Layout& layout,
                     DeviceAddress workspace) {
  simt::TurnParams turns{};
  if (needs.a) {
    turns.a = turn_of(p.a, p.m, p.k, p.a_row, p.a_col, workspace + layout.a);
    p.a = turns.a.to;
    p.a_row = 1;
    p.a_col = turns.a.ld;
  }
  if (needs.b) {
    turns.b = turn_of(p.b, p.n, p.k, p.b_col, p.b_row, workspace + layout.b);
    p.b = turns.b.to;
    p.b_row = turns.b.ld;
    p.b_col = 1;
  }
  return launch_of(row.turn_entry, turns.a.tiles + turns.b.tiles, simt::kTurnThreads, turns);
}

// The row as it would be if nothing were turned: element by element what tensor copies do not take.
KernelRow copying_row(KernelRow row, const GemmParams& p, Needs needs) {
  if (needs.a) row.fetches.a = Fetch::kCopy4;
  if (needs.b) row.fetches.b = Fetch::kCopy4;
  if (p.a_row != 1) row.sides.a = Contiguous::kK;
  if (p.b_col != 1) row.sides.b = Contiguous::kK;
  return row;
}

// Multiplies a region and adds the parts of its cut tiles.
void add_launches(Plan& plan, const Scheduled& scheduled, const GemmParams& whole,
                  const PlanContext& context) {
  const KernelRow& row = *scheduled.region.row;
  const StreamK& schedule = scheduled.schedule;
  SimtParams params{};
  params.gemm = product_of(scheduled.region, whole);
  params.schedule = schedule;
  params.parts = reinterpret_cast<float*>(context.workspace + scheduled.parts);
  params.scratch = reinterpret_cast<float*>(context.workspace);
  Launch multiply = launch_of(row.entry, schedule.ctas, row.threads, params);
  multiply.shape.shared_bytes = row.shared_bytes;
  add_tensor_maps<SimtParams>(multiply, row, params.gemm);
  plan.launches.push_back(std::move(multiply));
  if (schedule.cut_tiles() == 0) return;
  const std::int64_t pieces =
      std::int64_t{schedule.cut_tiles()} * simt::add_pieces(schedule, row.block.m, row.block.n);
  const std::int64_t blocks =
      std::int64_t{simt::kHelperBlocks} * std::max(1, context.multiprocessors);
  plan.launches.push_back(
      launch_of(row.add_entry, std::min(pieces, blocks), simt::kAddThreads, params));
}

}  // namespace

bool takes_turned(const KernelRow& row) {
  return !row.turn_entry.empty() && row.sides.a == Contiguous::kM &&
         row.sides.b == Contiguous::kN && row.fetches.a == Fetch::kTensor &&
         row.fetches.b == Fetch::kTensor;
}

bool pays_to_turn(const Kernel& kernel, const KernelRow& row, const GemmParams& p,
                  const PlanContext& context) {
  if (context.options.turn == When::kNever || !takes_turned(row)) return false;
  if (std::max({p.m, p.n, p.k}) > kMaxCoordinate) return false;
  const Needs needs = turns_needed(row, p);
  if (!needs.a && !needs.b) return false;
  const Layout layout = layout_of({whole_region(row, p)}, p, needs, context);
  if (layout.bytes > context.workspace_bytes) return false;
  if (context.options.turn == When::kAlways) return true;
  const Prediction copied = predicted(copying_row(row, p, needs), p, sizeof(float), context);
  const Prediction turned = predicted(regions_of(kernel, row, p, context), p, sizeof(float),
                                      context, layout.turned_bytes());
  return turned.total() < copied.total();
}

Prediction predicted_call(const Kernel& kernel, const KernelRow& row, const Problem& problem,
                          const PlanContext& context) {
  const GemmParams p = canonical_params(problem, {});
  const Layout turned = layout_of({}, p, turns_needed(row, p), context);
  return predicted(regions_of(kernel, row, p, context), p, size_of(problem.type), context,
                   turned.turned_bytes());
}

bool can_fetch(const KernelRow& row, const GemmParams& p) {
  return (row.fetches.a != Fetch::kTensor || can_be_mapped(map_of_a(row, p))) &&
         (row.fetches.b != Fetch::kTensor || can_be_mapped(map_of_b(row, p)));
}

Status supports_persistent(const Kernel& kernel, const KernelRow& row, const GemmParams& p) {
  if (scheduler::fits_schedule(p.m, p.n, p.k, row.block)) return {};
  return Status::unsupported("m is " + std::to_string(p.m) + ", n is " + std::to_string(p.n) +
                             " and k is " + std::to_string(p.k) + ", but " + kernel.name +
                             " counts at most 2^30 tiles, and as many along k");
}

std::int64_t stream_k_workspace(const Kernel& kernel, const KernelRow& row, const Problem& problem,
                                const PlanContext& context) {
  const GemmParams p = canonical_params(problem, {});
  if (p.m == 0 || p.n == 0) return 0;
  const Needs needs = turns_needed(row, p);
  const auto bytes = [&](const std::vector<Region>& regions) {
    return layout_of(regions, p, needs, context).bytes;
  };
  return std::max(bytes({whole_region(row, p)}), bytes(regions_of(kernel, row, p, context)));
}

Plan plan_stream_k(const Kernel& kernel, const KernelRow& row, const Problem& problem,
                   const Operands& operands, const PlanContext& context) {
  GemmParams p = canonical_params(problem, operands);
  if (p.m == 0 || p.n == 0) return {};
  const Needs needs = turns_needed(row, p);
  Layout layout = layout_of(regions_of(kernel, row, p, context), p, needs, context);
  if (layout.bytes > context.workspace_bytes) {
    layout = layout_of({whole_region(row, p)}, p, needs, context);
  }
  Plan plan;
  if (needs.a || needs.b) {
    plan.launches.push_back(turn_operands(row, p, needs, layout, context.workspace));
  }
  for (const Scheduled& scheduled : layout.regions) add_launches(plan, scheduled, p, context);
  // WHY each may: all of its blocks wait for the end of the launch before, ahead of any access that
  // another launch could disturb. So the end of one is the end of all before it.
  for (Launch& launch : plan.launches) launch.starts_early = &launch != &plan.launches.front();
  return plan;
}

Plan plan_whole_tiles(const Kernel&, const KernelRow& row, const Problem& problem,
                      const Operands& operands, const PlanContext& context) {
  producer_warp::Params params{};
  GemmParams& p = params.gemm;
  p = canonical_params(problem, operands);
  if (p.m == 0 || p.n == 0) return {};
  const int ctas = std::max(1, context.multiprocessors) * row.resident;
  params.schedule = scheduler::data_parallel(p.m, p.n, p.k, row.block, ctas);
  Launch multiply = launch_of(row.entry, params.schedule.ctas, row.threads, params);
  multiply.shape.shared_bytes = row.shared_bytes;
  add_tensor_maps<producer_warp::Params>(multiply, row, p);
  return {{multiply}};
}

std::string entry_name(std::string_view kernel, std::string_view variant, Sides sides,
                       Fetches fetches) {
  const std::string name = entry_name(kernel, variant, sides);
  const auto word = [](Fetch fetch) { return fetch == Fetch::kTensor ? "_tma" : "_copy"; };
  if (fetches.a == fetches.b) return name + word(fetches.a);
  return name + word(fetches.a) + word(fetches.b);
}

std::string add_entry(std::string_view kernel, BlockTile block) {
  return std::string(kernel) + "__add_" + std::to_string(block.m) + "x" + std::to_string(block.n);
}

std::string turn_entry(std::string_view kernel) { return std::string(kernel) + "__turn"; }

std::vector<HelperEntry> persistent_helpers(const std::vector<KernelRow>& rows,
                                            const std::string& family) {
  const std::string name_space = "tessera::" + family;
  std::vector<HelperEntry> helpers = {{rows.front().turn_entry, "turn", name_space + "::TurnParams",
                                       simt::kTurnThreads, simt::kHelperBlocks}};
  for (const KernelRow& row : rows) {
    const bool there = std::any_of(helpers.begin(), helpers.end(), [&](const HelperEntry& helper) {
      return helper.entry == row.add_entry;
    });
    if (there) continue;
    const std::string tile = std::to_string(row.block.m) + ", " + std::to_string(row.block.n);
    helpers.push_back({row.add_entry, "add_parts<" + tile + ">", name_space + "::SimtParams",
                       simt::kAddThreads, simt::kHelperBlocks});
  }
  return helpers;
}

}  // namespace tessera::catalog
