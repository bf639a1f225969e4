#include "gemm/steps/step.h"

#include "gemm/options.h"

namespace tessera::gemm {

GemmParams canonical_params(const Problem& problem, const Operands& operands) {
  const bool is_exchanged = problem.order == Order::kColumnMajor;
  GemmParams params = params_of(row_major(problem));
  params.a = reinterpret_cast<const void*>(is_exchanged ? operands.b : operands.a);
  params.b = reinterpret_cast<const void*>(is_exchanged ? operands.a : operands.b);
  params.c = reinterpret_cast<const void*>(operands.c);
  params.d = reinterpret_cast<void*>(operands.d);
  return params;
}

GemmParams params_of(const Problem& p) {
  const MatrixView a = view_a(p), b = view_b(p);
  return {.m = p.m,
          .n = p.n,
          .k = reads_ab(p) ? p.k : 0,
          .a_row = a.row,
          .a_col = a.col,
          .b_row = b.row,
          .b_col = b.col,
          .c_row = p.ldc,
          .d_row = p.ldd,
          .alpha = reads_ab(p) ? p.alpha : 0,
          .beta = p.beta};
}

std::string_view name_of(Pass pass) {
  constexpr std::string_view kNames[] = {"widen", "pack",     "repack", "terms",
                                         "maps",  "multiply", "reduce", "finish"};
  return kNames[static_cast<std::size_t>(pass)];
}

void patch_product(Step& step, std::size_t offset, const Product& product) {
  step.addresses.reserve(step.addresses.size() + 4);
  step.addresses.push_back({offset + offsetof(GemmParams, a), product.a});
  step.addresses.push_back({offset + offsetof(GemmParams, b), product.b});
  step.addresses.push_back({offset + offsetof(GemmParams, c), product.c});
  step.addresses.push_back({offset + offsetof(GemmParams, d), product.d, Use::kWritten});
  if (product.params.k > 0) {
    step.scales.push_back({offset + offsetof(GemmParams, alpha), Scale::kAlpha});
  }
  // A C that is a bias, or an earlier part of k in D, is added once,
  // whatever beta the caller gives.
  if (product.params.beta != 0 && product.c.slot == Slot::kC) {
    step.scales.push_back({offset + offsetof(GemmParams, beta), Scale::kBeta});
  }
}

WorkspaceLayout workspace_layout(std::span<const std::int64_t> temps) {
  WorkspaceLayout layout;
  layout.begins.reserve(temps.size());
  for (const std::int64_t bytes : temps) {
    const std::int64_t begin = with_workspace_alignment(layout.bytes);
    layout.begins.push_back(begin);
    if (bytes > 0) layout.bytes = begin + bytes;
  }
  return layout;
}

std::int64_t workspace_bytes(std::span<const std::int64_t> temps, std::int64_t begin) {
  std::int64_t end = begin;
  for (const std::int64_t bytes : temps) {
    if (bytes > 0) end = with_workspace_alignment(end) + bytes;
  }
  return end;
}

void place_temps(const WorkspaceLayout& layout, std::span<Step> steps) {
  const auto place = [&](PlannedAddress& address) {
    if (address.slot != Slot::kWorkspace) return;
    address.delta += layout.begins.at(static_cast<std::size_t>(address.temp));
  };
  for (Step& step : steps) {
    for (AddressPatch& patch : step.addresses) place(patch.address);
    for (MapPatch& patch : step.maps) place(patch.address);
  }
}

}  // namespace tessera::gemm
