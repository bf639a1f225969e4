#include "vgpu/observe/count/footprint_map.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace tessera::vgpu {

FootprintMap::FootprintMap(const GlobalMemory& memory, bool halves)
    : memory_(memory), halves_(halves) {
  const auto& blocks = memory.blocks();
  if (blocks.empty()) return;
  first_sector_ = blocks.front().base / kSectorBytes / 64 * 64;
  const std::uint64_t end = blocks.back().base + blocks.back().bytes;
  const std::uint64_t sectors = (end + kSectorBytes - 1) / kSectorBytes - first_sector_;
  map_bytes_ = (sectors + 63) / 64 * sizeof(Word);
  for (int kind = 0; kind < kKinds; ++kind) {
    for (int half = 0; half < (halves ? 2 : 1); ++half) {
      void* map = mmap(nullptr, map_bytes_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (map == MAP_FAILED) return;  // sectors_ stays 0: nothing is marked, nothing is known
      maps_[kind][half] = static_cast<Word*>(map);
    }
  }
  sectors_ = sectors;
}

FootprintMap::~FootprintMap() {
  for (auto& halves : maps_) {
    for (Word* map : halves) {
      if (map) munmap(map, map_bytes_);
    }
  }
}

Footprint FootprintMap::result(double share) const {
  Footprint footprint;
  footprint.known = sectors_ != 0 || memory_.blocks().empty();
  footprint.estimated = halves_;
  footprint.read_sectors = count(kRead, share);
  footprint.written_sectors = count(kWritten, share);
  return footprint;
}

std::uint64_t FootprintMap::count(Kind kind, double share) const {
  if (sectors_ == 0) return 0;
  std::uint64_t sum = 0;
  for (const MemoryBlock& block : memory_.blocks()) {
    const std::uint64_t from = block.base / kSectorBytes - first_sector_;
    const std::uint64_t to = from + (block.bytes + kSectorBytes - 1) / kSectorBytes;
    sum += count_block(kind, from, to, share);
  }
  return sum;
}

// WHY this estimate: were each sector touched by r clusters of n, drawn at random, a share f of
// them would see 1 - (1 - f)^r of the sectors. Half of the sample sees 1 - q, with q = (1 - f/2)^r,
// and all of it about 1 - q^2; their quotient is 1 + q. r is at least 1, so q at most 1 - f/2.
std::uint64_t FootprintMap::count_block(Kind kind, std::uint64_t from, std::uint64_t to,
                                        double share) const {
  // Allocations start at multiples of 256 bytes, so one never shares a word's bits with another
  // unless both lie in it: the bits outside are masked.
  std::uint64_t ones[2] = {}, either = 0;
  for (std::uint64_t at = from; at < to;) {
    const std::uint64_t bit = at % 64, here = std::min(to - at, 64 - bit);
    const Word mask = (~Word{0} >> (64 - here)) << bit;
    const Word a = maps_[kind][0][at / 64] & mask;
    const Word b = halves_ ? maps_[kind][1][at / 64] & mask : 0;
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

}  // namespace tessera::vgpu
