#include "catalog/persistent.h"

#include <algorithm>
#include <cstddef>

#include "arch/gpus.h"
#include "kernels/scheduler/choose_stream_k.h"
#include "kernels/simt/params.h"

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
bool can_be_mapped(const TensorMapDesc& desc) {
  constexpr std::uint64_t kMaxCoordinate = 0x7fffffff;
  return check(desc).ok() && desc.sizes[0] <= kMaxCoordinate && desc.sizes[1] <= kMaxCoordinate;
}

StreamK schedule_of(const KernelRow& row, const GemmParams& p, const PlanContext& context) {
  const int ctas = std::max(1, context.multiprocessors) * row.resident;
  if (context.cutting == Cutting::kNever) {
    return scheduler::data_parallel(p.m, p.n, p.k, row.block, ctas);
  }
  if (context.cutting == Cutting::kAlways) {
    return scheduler::cut_last_wave(p.m, p.n, p.k, row.block, ctas);
  }
  const scheduler::TileCosts costs =
      scheduler::costs_of(row.block, row.resident, sizeof(float), arch::kH200.fp32_lanes);
  return scheduler::choose_stream_k(p.m, p.n, p.k, row.block, ctas, costs);
}

Launch launch_of(const std::string& entry, std::int64_t grid, int block, const SimtParams& params) {
  return {.entry = entry,
          .shape = {.grid = grid, .block = block},
          .params = bytes_of(params),
          .param_offsets = {0}};  // WHY: only the driver knows where a block of 64-byte maps begins
}

std::size_t tile_bytes(const KernelRow& row) {
  return static_cast<std::size_t>(row.block.m) * row.block.n * sizeof(float);
}

}  // namespace

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

std::int64_t stream_k_workspace(const KernelRow& row, const Problem& problem,
                                const PlanContext& context) {
  const GemmParams p = canonical_params(problem, {});
  if (p.m == 0 || p.n == 0) return 0;
  return scheduler::slots_of(schedule_of(row, p, context)) *
         static_cast<std::int64_t>(tile_bytes(row));
}

Plan plan_stream_k(const KernelRow& row, const Problem& problem, const Operands& operands,
                   const PlanContext& context) {
  SimtParams params{};
  params.gemm = canonical_params(problem, operands);
  if (params.gemm.m == 0 || params.gemm.n == 0) return {};
  params.schedule = schedule_of(row, params.gemm, context);
  params.parts = reinterpret_cast<float*>(context.workspace);

  Launch multiply = launch_of(row.entry, params.schedule.ctas, row.threads, params);
  multiply.shape.shared_bytes = row.shared_bytes;
  if (row.fetches.a == Fetch::kTensor) {
    multiply.tensor_maps.push_back({offsetof(SimtParams, a_map), map_of_a(row, params.gemm)});
  }
  if (row.fetches.b == Fetch::kTensor) {
    multiply.tensor_maps.push_back({offsetof(SimtParams, b_map), map_of_b(row, params.gemm)});
  }
  Plan plan{{multiply}};
  if (params.schedule.cut_tiles() > 0) {
    const std::int64_t grid = std::int64_t{simt::kAddPieces} * params.schedule.cut_tiles();
    plan.launches.push_back(launch_of(row.add_entry, grid, simt::kAddThreads, params));
    plan.launches.back().starts_early = true;
  }
  return plan;
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

std::vector<HelperEntry> add_helpers(const std::vector<KernelRow>& rows,
                                     const std::string& params) {
  std::vector<HelperEntry> helpers;
  for (const KernelRow& row : rows) {
    const bool there = std::any_of(helpers.begin(), helpers.end(), [&](const HelperEntry& helper) {
      return helper.entry == row.add_entry;
    });
    if (there) continue;
    const std::string tile = std::to_string(row.block.m) + ", " + std::to_string(row.block.n);
    helpers.push_back({row.add_entry, "add_parts<" + tile + ">", params});
  }
  return helpers;
}

}  // namespace tessera::catalog
