// Ragged edges. 4097 x 4097 outputs take 17 x 33 tiles of 256x128, and a tenth of what these
// multiply lies outside of D. So a product may be planned in regions: whole tiles of its row, and
// behind them the rims of D to the right and below, by rows of the kernel with smaller tiles. The
// corner belongs to one of the rims. A region is a product of its own, of sub-blocks of the same
// operands; each begins at the edge of a large tile, so its operands are as aligned as the whole.
#pragma once

#include <vector>

#include "catalog/cost_model.h"

namespace tessera::catalog {

// A rectangle of D, and the row that multiplies it.
struct Region {
  const KernelRow* row;
  long long m_begin, n_begin, m, n;
};

// All of D in one.
Region whole_region(const KernelRow& row, const GemmParams& canonical);

// What multiplies the product, the region of `row` first: as the options say, or what costs least.
// Only rows of tensor copies alone are split; strides and addresses of A and B do not matter.
std::vector<Region> regions_of(const Kernel& kernel, const KernelRow& row,
                               const GemmParams& canonical, const PlanContext& context);

// The product of a region.
GemmParams product_of(const Region& region, const GemmParams& whole);

// What regions cost, launched one behind the other, with one launch ahead of all that turns
// `turned_bytes` of operands.
Prediction predicted(const std::vector<Region>& regions, const GemmParams& whole, int element_bytes,
                     const PlanContext& context, std::int64_t turned_bytes = 0);

}  // namespace tessera::catalog
