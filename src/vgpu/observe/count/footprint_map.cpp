#include "vgpu/observe/count/footprint_map.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

namespace tessera::vgpu {

SparseWords::SparseWords(std::size_t words) : bytes_(words * sizeof(std::uint64_t)) {
  if (words == 0) return;
  void* map = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  words_ = static_cast<std::uint64_t*>(map);
}

SparseWords::~SparseWords() {
  if (words_) munmap(words_, bytes_);
}

SparseWords::SparseWords(SparseWords&& from) noexcept
    : words_(std::exchange(from.words_, nullptr)), bytes_(from.bytes_) {}

FootprintMap::FootprintMap(const GlobalMemory& memory, bool halves)
    : memory_(memory), halves_(halves) {
  const auto& blocks = memory.blocks();
  if (blocks.empty()) return;
  first_sector_ = blocks.front().base / kSectorBytes / 64 * 64;
  const std::uint64_t end = blocks.back().base + blocks.back().bytes;
  words_ = ((end + kSectorBytes - 1) / kSectorBytes - first_sector_ + 63) / 64;
  for (auto& maps : maps_) {
    for (int half = 0; half < (halves ? 2 : 1); ++half) maps.emplace_back(words_);
  }
}

Footprint FootprintMap::result(double share) const {
  Footprint footprint;
  footprint.known = true;
  footprint.estimated = halves_;
  footprint.read_sectors = count(Touch::kRead, share);
  footprint.written_sectors = count(Touch::kWritten, share);
  return footprint;
}

std::uint64_t FootprintMap::count(Touch touch, double share) const {
  std::uint64_t sum = 0;
  for (const MemoryBlock& block : memory_.blocks()) {
    const std::uint64_t from = block.base / kSectorBytes - first_sector_;
    const std::uint64_t to = from + (block.bytes + kSectorBytes - 1) / kSectorBytes;
    sum += count_block(touch, from, to, share);
  }
  return sum;
}

// WHY this estimate: if each sector were accessed by r random clusters, a share f of the clusters
// would see 1 - (1 - f)^r of the sectors. Half of the sample sees 1 - q with q = (1 - f/2)^r, and
// the whole sample about 1 - q^2; their quotient is 1 + q. Since r is at least 1, q is at most 1 -
// f/2.
std::uint64_t FootprintMap::count_block(Touch touch, std::uint64_t from, std::uint64_t to,
                                        double share) const {
  const auto& maps = maps_[static_cast<std::size_t>(touch)];
  std::uint64_t ones[2] = {}, either = 0;
  for (std::uint64_t at = from; at < to;) {
    const std::uint64_t bit = at % 64, here = std::min(to - at, 64 - bit);
    const std::uint64_t mask = (~std::uint64_t{0} >> (64 - here)) << bit;
    const std::uint64_t a = maps[0][at / 64] & mask;
    const std::uint64_t b = halves_ ? maps[1][at / 64] & mask : 0;
    ones[0] += static_cast<std::uint64_t>(std::popcount(a));
    ones[1] += static_cast<std::uint64_t>(std::popcount(b));
    either += static_cast<std::uint64_t>(std::popcount(a | b));
    at += here;
  }
  if (!halves_ || either == 0) return either;
  const double half = static_cast<double>(ones[0] + ones[1]) / 2;
  const double q = std::min(static_cast<double>(either) / half - 1, 1 - share / 2);
  const double all = half / (1 - q);
  return std::min(to - from, std::max(either, static_cast<std::uint64_t>(std::llround(all))));
}

ClusterFootprint::ClusterFootprint(FootprintMap& launch) : launch_(launch), words_(launch.words()) {
  for (std::size_t t = 0; t < kTouches; ++t) maps_.emplace_back(words_);
}

void ClusterFootprint::begin_cluster(bool first_half) {
  first_half_ = first_half;
  for (std::size_t t = 0; t < kTouches; ++t) {
    for (const std::uint64_t word : touched_[t]) maps_[t][word] = 0;
    touched_[t].clear();
  }
}

std::uint64_t ClusterFootprint::take(Touch touch) {
  return std::exchange(sectors_[static_cast<std::size_t>(touch)], 0);
}

}  // namespace tessera::vgpu
