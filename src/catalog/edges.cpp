#include "catalog/edges.h"

#include <limits>

#include "catalog/persistent.h"

namespace tessera::catalog {
namespace {

using Regions = std::vector<Region>;

constexpr int kFloat = sizeof(float);
constexpr double kWorthwhile = 0.99;  // of the cost in one region: the model is no finer than this

// Where whole tiles end: at the end of D or, where that is ragged, at the last edge before it.
std::vector<long long> ends_of(long long extent, int block, bool always) {
  const long long whole = extent / block * block;
  if (whole == extent || whole == 0) return {extent};
  return always ? std::vector{whole} : std::vector{extent, whole};
}

const void* moved(const void* matrix, long long elements) {
  // WHY: nothing stands at address 0: it is not known, or not read.
  return matrix ? static_cast<const float*>(matrix) + elements : nullptr;
}

// The same rectangle by the row whose launch costs least behind another one.
Region by_best_row(const Kernel& kernel, Region region, const GemmParams& whole,
                   const PlanContext& context) {
  const GemmParams p = product_of(region, whole);
  double least = std::numeric_limits<double>::infinity();
  for (const KernelRow& row : kernel.rows) {
    if (!takes_turned(row) || !scheduler::fits_schedule(p.m, p.n, p.k, row.block)) continue;
    const double cost = behind_another(predicted(row, p, kFloat, context));
    if (cost >= least) continue;
    least = cost;
    region.row = &row;
  }
  return region;
}

// Whole tiles of `row` up to (m, n), and rims. Both rims could hold the corner.
Regions split(const Kernel& kernel, const KernelRow& row, const GemmParams& p, long long m,
              long long n, bool corner_below, const PlanContext& context) {
  Regions regions = {{&row, 0, 0, m, n}};
  const Region right{&row, 0, n, corner_below ? m : p.m, p.n - n};
  const Region below{&row, m, 0, p.m - m, corner_below ? p.n : n};
  if (right.n > 0) regions.push_back(by_best_row(kernel, right, p, context));
  if (below.m > 0) regions.push_back(by_best_row(kernel, below, p, context));
  return regions;
}

}  // namespace

Region whole_region(const KernelRow& row, const GemmParams& p) { return {&row, 0, 0, p.m, p.n}; }

std::vector<Region> regions_of(const Kernel& kernel, const KernelRow& row, const GemmParams& p,
                               const PlanContext& context) {
  const Regions whole = {whole_region(row, p)};
  const When edges = context.options.edges;
  if (edges == When::kNever || !takes_turned(row) || p.k == 0) return whole;
  const bool always = edges == When::kAlways;
  double least = always ? std::numeric_limits<double>::infinity()
                        : kWorthwhile * predicted(whole, p, kFloat, context).total();
  Regions best = whole;
  for (const long long m : ends_of(p.m, row.block.m, always)) {
    for (const long long n : ends_of(p.n, row.block.n, always)) {
      if (m == p.m && n == p.n) continue;
      const bool has_corner = m < p.m && n < p.n;
      for (int corner_below = 0; corner_below <= has_corner; ++corner_below) {
        const Regions regions = split(kernel, row, p, m, n, corner_below, context);
        const double cost = predicted(regions, p, kFloat, context).total();
        if (cost >= least) continue;
        least = cost;
        best = regions;
      }
    }
  }
  return best;
}

GemmParams product_of(const Region& region, const GemmParams& whole) {
  GemmParams p = whole;
  p.m = region.m;
  p.n = region.n;
  p.a = moved(p.a, region.m_begin * p.a_row);
  p.b = moved(p.b, region.n_begin * p.b_col);
  p.c = moved(p.c, region.m_begin * p.c_row + region.n_begin);
  p.d = const_cast<void*>(moved(p.d, region.m_begin * p.d_row + region.n_begin));
  return p;
}

Prediction predicted(const std::vector<Region>& regions, const GemmParams& whole, int element_bytes,
                     const PlanContext& context, std::int64_t turned_bytes) {
  const auto cost = [&](const Region& region, std::int64_t turned) {
    return predicted(*region.row, product_of(region, whole), element_bytes, context, turned);
  };
  Prediction all = cost(regions.front(), turned_bytes);
  for (std::size_t i = 1; i < regions.size(); ++i) all.edges += behind_another(cost(regions[i], 0));
  return all;
}

}  // namespace tessera::catalog
