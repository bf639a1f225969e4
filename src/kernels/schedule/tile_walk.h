// Iterates over the output tiles of one CTA of a persistent grid: every step-th tile of the raster,
// at the CTA's place in the cluster. In a batch, one product follows the other.
#pragma once

#include "kernels/schedule/cluster.h"
#include "kernels/schedule/raster.h"

namespace tessera::schedule {

template <OutputTile cluster>
class TileWalk {
 public:
  using Place = ClusterPlace<cluster>;

  // One tile of the raster is the tile of a whole cluster.
  __device__ TileWalk(const Raster& raster, const int& products)
      : raster_(raster),
        products_(products),
        place_(Place::of_rank(static_cast<int>(blockIdx.x) % Place::kSize)),
        tile_(static_cast<int>(blockIdx.x) / Place::kSize),
        step_(static_cast<int>(gridDim.x) / Place::kSize) {}

  __device__ bool valid() const { return tile_ < tiles(); }
  __device__ bool has_next() const { return tile_ + step_ < tiles(); }
  __device__ void advance(int count = 1) { tile_ += count * step_; }
  __device__ Place place() const { return place_; }

  // Returns the product of the batch that the CTA's tile belongs to.
  __device__ int product() const { return products_ == 1 ? 0 : tile_ / raster_.tiles(); }
  // Returns the origin of the CTA's tile in D.
  __device__ tile::Coord<> corner(BlockTile block) const {
    const tile::Coord<> at = raster_[tile_ - product() * raster_.tiles()];
    return {(at.m * cluster.m + place_.m) * block.m, (at.n * cluster.n + place_.n) * block.n};
  }

 private:
  __device__ int tiles() const { return raster_.tiles() * products_; }

  const Raster& raster_;
  const int& products_;  // WHY references: both stay in the kernel's parameters
  Place place_;
  int tile_, step_;
};

}  // namespace tessera::schedule
