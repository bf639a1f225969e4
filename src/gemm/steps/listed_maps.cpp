#include "gemm/steps/listed_maps.h"

#include <algorithm>
#include <cstddef>

#include "base/divide.h"
#include "kernels/passes/listed_maps_params.h"

namespace tessera::gemm {

using passes::ListedMapsParams;

std::int64_t bytes_of_listed_maps(std::int64_t products) {
  return products * passes::kMappedOperands * static_cast<std::int64_t>(sizeof(TensorMap));
}

Step listed_maps_step(const ListedOperand& a, const ListedOperand& b,
                      const std::optional<ListedOperand>& d, std::int64_t products,
                      const PlannedAddress& maps) {
  constexpr std::int64_t kMostBlocks = 128;
  ListedMapsParams params{};
  params.products = products;
  Step step = step_of(
      Pass::kMaps, listed_maps_kernel().helpers.front().entry,
      {.grid = std::min(ceil_div(products, std::int64_t{passes::kListedMapsThreads}), kMostBlocks),
       .block = passes::kListedMapsThreads},
      params);
  step.addresses.push_back({offsetof(ListedMapsParams, maps), maps, Use::kWritten});
  const auto add = [&](const ListedOperand& operand, std::size_t number) {
    // WHY the address of the maps: each map gets its own address on the device, but the host
    // encodes only maps with an aligned address.
    step.maps.push_back({offsetof(ListedMapsParams, shapes) + number * sizeof(TensorMap),
                         operand.desc, maps, Use::kUnused});
    step.addresses.push_back(
        {offsetof(ListedMapsParams, lists) + number * sizeof(void*), operand.list});
  };
  add(a, 0), add(b, 1);
  if (d) add(*d, 2);
  return step;
}

}  // namespace tessera::gemm
