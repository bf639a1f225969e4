#include "gemm/launches.h"

namespace tessera::gemm {

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
