#include "vgpu/exec/sample.h"

#include <algorithm>
#include <array>
#include <random>

namespace tessera::vgpu {
namespace {

enum Region : std::size_t { kInside, kRim, kCorner, kKinds };

struct Size {
  std::uint64_t n[3];

  std::uint64_t total() const { return n[0] * n[1] * n[2]; }

  Region kind(std::uint64_t index) const {
    int wide = 0, extreme = 0;
    for (const std::uint64_t size : n) {
      const std::uint64_t at = index % size;
      index /= size;
      if (size == 1) continue;
      ++wide;
      if (at == 0 || at == size - 1) ++extreme;
    }
    return extreme == wide ? kCorner : extreme > 0 ? kRim : kInside;
  }
};

// Divides 0 ... size - 1 into `count` parts of equal length and draws one number of each,
// ascending.
std::vector<std::uint64_t> draw(std::uint64_t size, std::uint64_t count, std::mt19937_64& random) {
  std::vector<std::uint64_t> ranks;
  const auto begin = [&](std::uint64_t i) {
    return static_cast<std::uint64_t>(static_cast<long double>(i) * size / count);
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    // WHY modulo: distributions of the standard library differ between implementations.
    ranks.push_back(begin(i) + random() % (begin(i + 1) - begin(i)));
  }
  return ranks;
}

}  // namespace

ClusterSample::ClusterSample(const std::uint32_t (&grid)[3], const std::uint32_t (&cluster)[3],
                             std::uint64_t wanted, std::uint64_t seed) {
  Size size{};
  for (int d = 0; d < 3; ++d) {
    grid_[d] = grid[d];
    cluster_[d] = std::max(cluster[d], 1u);
    size.n[d] = std::max(grid_[d] / cluster_[d], 1u);
  }
  total_ = size.total();
  if (wanted == 0 || wanted >= total_) return;

  std::array<std::uint64_t, kKinds> there{};
  for (std::uint64_t i = 0; i < total_; ++i) ++there[size.kind(i)];
  std::array<std::uint64_t, kKinds> take{};
  take[kCorner] = there[kCorner];
  take[kRim] = std::min(there[kRim], std::max<std::uint64_t>(wanted / 4, 4));
  const std::uint64_t rest = wanted - std::min(wanted, take[kCorner] + take[kRim]);
  take[kInside] = std::min(there[kInside], std::max<std::uint64_t>(rest, 4));

  std::mt19937_64 random(seed);
  for (const Region kind : {kCorner, kRim, kInside}) {
    const std::vector<std::uint64_t> ranks = draw(there[kind], take[kind], random);
    auto next = ranks.begin();
    std::uint64_t rank = 0;
    for (std::uint64_t i = 0; i < total_ && next != ranks.end(); ++i) {
      if (size.kind(i) != kind || rank++ != *next) continue;
      ++next;
      SampledCluster one = cluster_at(i);
      one.weight = static_cast<double>(there[kind]) / static_cast<double>(take[kind]);
      one.first_half = (drawn_.size() + seed) % 2 == 0;
      drawn_.push_back(one);
    }
  }
}

SampledCluster ClusterSample::cluster_at(std::uint64_t index) const {
  SampledCluster cluster;
  cluster.index = index;
  std::uint64_t stride = 1;
  for (int d = 0; d < 3; ++d) {
    const std::uint64_t size = std::max(grid_[d] / cluster_[d], 1u);
    cluster.first_cta += index % size * cluster_[d] * stride;
    index /= size;
    stride *= grid_[d];
  }
  return cluster;
}

SampledCluster ClusterSample::operator[](std::uint64_t i) const {
  return is_partial() ? drawn_[i] : cluster_at(i);
}

SampledCluster ClusterSample::with_first_cta(std::uint64_t cta) const {
  for (const SampledCluster& one : drawn_) {
    if (one.first_cta == cta) return one;
  }
  SampledCluster whole;
  whole.first_cta = cta;
  return whole;
}

}  // namespace tessera::vgpu
