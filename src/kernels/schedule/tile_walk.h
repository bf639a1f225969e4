// The output tiles of one CTA of a persistent grid: every so many of the raster, at its own place
// in the cluster.
#pragma once

#include "kernels/schedule/cluster.h"
#include "kernels/schedule/raster.h"

namespace tessera::schedule {

template <OutputTile cluster>
class TileWalk {
 public:
  using Place = ClusterPlace<cluster>;

  // The raster's tiles are those of clusters.
  __device__ TileWalk(const Raster& raster)
      : raster_(raster),
        place_(Place::of_rank(static_cast<int>(blockIdx.x) % Place::kSize)),
        tile_(static_cast<int>(blockIdx.x) / Place::kSize),
        step_(static_cast<int>(gridDim.x) / Place::kSize) {}

  __device__ bool valid() const { return tile_ < raster_.tiles(); }
  __device__ bool has_next() const { return tile_ + step_ < raster_.tiles(); }
  __device__ void advance(int count = 1) { tile_ += count * step_; }
  __device__ Place place() const { return place_; }

  // Where the CTA's tile begins in D.
  __device__ tile::Coord<> corner(BlockTile block) const {
    const tile::Coord<> at = raster_[tile_];
    return {(at.m * cluster.m + place_.m) * block.m, (at.n * cluster.n + place_.n) * block.n};
  }

 private:
  const Raster& raster_;
  Place place_;
  int tile_, step_;
};

}  // namespace tessera::schedule
