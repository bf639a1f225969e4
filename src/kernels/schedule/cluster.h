// The tiles that the CTAs of a cluster share. They compute cluster.m x cluster.n neighbouring
// tiles: CTAs in one row need the same tile of A, CTAs in one column the same tile of B. Each CTA
// loads its share of both tiles and sends it to the CTAs that need it. Pure constexpr.
#pragma once

#include <cstdint>

#include "base/config.h"
#include "kernels/schedule/raster.h"

namespace tessera::schedule {

template <OutputTile cluster>
struct ClusterPlace {
  static constexpr int kSize = cluster.m * cluster.n;
  // The number of CTAs, including itself, that read the tiles which one CTA loads.
  static constexpr int kPartners = cluster.m + cluster.n - 1;

  int m, n;

  static constexpr ClusterPlace of_rank(int rank) { return {rank % cluster.m, rank / cluster.m}; }
  static constexpr int rank(int m, int n) { return n * cluster.m + m; }

  // Returns the CTAs that read this CTA's share of A (or B), as a bit mask of ranks.
  constexpr std::uint16_t readers_of_a() const {
    unsigned mask = 0;
    for (int j = 0; j < cluster.n; ++j) mask |= 1u << rank(m, j);
    return static_cast<std::uint16_t>(mask);
  }
  constexpr std::uint16_t readers_of_b() const {
    unsigned mask = 0;
    for (int i = 0; i < cluster.m; ++i) mask |= 1u << rank(i, n);
    return static_cast<std::uint16_t>(mask);
  }
  // The rank of partner 0 ... kPartners - 1: first the CTAs of the column, then others of the row.
  constexpr int partner(int index) const {
    if (index < cluster.m) return rank(index, n);
    const int j = index - cluster.m;
    return rank(m, j < n ? j : j + 1);
  }
};

}  // namespace tessera::schedule
