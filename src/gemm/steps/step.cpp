#include "gemm/steps/step.h"

namespace tessera::gemm {

GemmParams canonical_params(const Problem& problem, const Operands& operands) {
  const Canonical p = canonical(problem);
  return {
      .a = reinterpret_cast<const void*>(p.exchanged ? operands.b : operands.a),
      .b = reinterpret_cast<const void*>(p.exchanged ? operands.a : operands.b),
      .c = reinterpret_cast<const void*>(operands.c),
      .d = reinterpret_cast<void*>(operands.d),
      .m = p.m,
      .n = p.n,
      .k = p.k,
      .a_row = p.a.row,
      .a_col = p.a.col,
      .b_row = p.b.row,
      .b_col = p.b.col,
      .c_row = p.c_row,
      .d_row = p.d_row,
      .alpha = p.alpha,
      .beta = p.beta,
  };
}

void patch_product(PlannedLaunch& launch, std::size_t offset, const Product& product) {
  const auto address = [&](std::size_t member, const Place& place) {
    launch.addresses.push_back({offset + member, place});
  };
  launch.addresses.reserve(launch.addresses.size() + 4);
  address(offsetof(GemmParams, a), product.a);
  address(offsetof(GemmParams, b), product.b);
  address(offsetof(GemmParams, c), product.c);
  address(offsetof(GemmParams, d), product.d);
  if (product.params.k > 0) {
    launch.scales.push_back({offset + offsetof(GemmParams, alpha), Scale::kAlpha});
  }
  if (product.params.beta != 0) {
    launch.scales.push_back({offset + offsetof(GemmParams, beta), Scale::kBeta});
  }
}

}  // namespace tessera::gemm
