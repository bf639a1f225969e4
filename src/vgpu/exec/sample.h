// Counts of a large launch are estimated from a sample of its clusters. Clusters on the border of
// the grid run other code than those inside (tails, guards). So the sample has clusters of each
// kind: all corners, some of the border, some of the inside.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::vgpu {

struct SampledCluster {
  std::uint64_t index = 0;      // linear, in the grid of clusters
  std::uint64_t first_cta = 0;  // linear, in the grid of CTAs
  double weight = 1;            // how many clusters it represents
  // Clusters are assigned to the two halves of the sample in turn. From the overlap of the memory
  // that both halves access, the memory of the whole launch is estimated.
  bool first_half = true;
};

// Scales the count of drawn clusters to all clusters that they represent.
inline std::uint64_t scaled(std::uint64_t count, double weight) {
  return weight == 1 ? count
                     : static_cast<std::uint64_t>(static_cast<double>(count) * weight + 0.5);
}

class ClusterSample {
 public:
  // Samples about `wanted` CTAs (0: all) of a grid of clusters of this shape. Equal arguments give
  // equal samples.
  ClusterSample(const std::uint32_t (&grid)[3], const std::uint32_t (&cluster)[3],
                std::uint64_t wanted, std::uint64_t seed);

  std::uint64_t total() const { return total_; }
  bool is_partial() const { return !drawn_.empty(); }
  // The number of clusters that run. Clusters of equal weight follow each other.
  std::uint64_t size() const { return is_partial() ? drawn_.size() : total_; }
  SampledCluster operator[](std::uint64_t i) const;
  // Returns the cluster whose first CTA this is.
  SampledCluster with_first_cta(std::uint64_t cta) const;

 private:
  SampledCluster cluster_at(std::uint64_t index) const;

  std::uint32_t grid_[3], cluster_[3];  // in CTAs
  std::uint64_t total_ = 1;
  std::vector<SampledCluster> drawn_;  // empty: all clusters
};

}  // namespace tessera::vgpu
