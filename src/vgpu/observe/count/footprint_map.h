// The sectors of global memory that a launch accesses: one bit per sector, in pages that take
// memory only if one of their sectors is accessed.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/memory/global.h"
#include "vgpu/report/memory_counts.h"

namespace tessera::vgpu {

enum class Touch : std::size_t { kRead, kWritten };
constexpr std::size_t kTouches = 2;

// Zeroed words. Only pages that are accessed take memory.
class SparseWords {
 public:
  explicit SparseWords(std::size_t words);  // throws std::bad_alloc
  ~SparseWords();
  SparseWords(SparseWords&& from) noexcept;
  SparseWords& operator=(SparseWords&&) = delete;

  std::uint64_t& operator[](std::size_t i) const { return words_[i]; }

 private:
  std::uint64_t* words_ = nullptr;
  std::size_t bytes_;
};

// The sectors of the whole launch. All worker threads share the map.
class FootprintMap {
 public:
  // Covers the current allocations. In a sample, each cluster marks sectors in one of two halves.
  FootprintMap(const GlobalMemory& memory, bool halves);

  // The sector number of bit 0. A word has 64 sectors.
  std::uint64_t first_sector() const { return first_sector_; }
  std::uint64_t words() const { return words_; }

  // WHY it loads first: nearly all sectors are marked already, and loads of a cache line do not
  // slow down other threads.
  void mark(Touch touch, bool first_half, std::uint64_t word, std::uint64_t bits) {
    auto& map = maps_[static_cast<std::size_t>(touch)];
    const std::atomic_ref<std::uint64_t> shared(map[halves_ && !first_half ? 1 : 0][word]);
    if ((shared.load(std::memory_order_relaxed) & bits) == bits) return;
    shared.fetch_or(bits, std::memory_order_relaxed);
  }

  // Returns read_sectors and written_sectors of the launch, of whose clusters `share` have run.
  Footprint result(double share) const;

 private:
  std::uint64_t count(Touch touch, double share) const;
  std::uint64_t count_block(Touch touch, std::uint64_t from, std::uint64_t to, double share) const;

  const GlobalMemory& memory_;
  bool halves_;
  std::uint64_t first_sector_ = 0, words_ = 0;
  std::vector<SparseWords> maps_[kTouches];  // one map per half of the sample
};

// The sectors of one cluster at a time. Sectors that are new to the cluster are also marked in the
// map of the launch.
class ClusterFootprint {
 public:
  explicit ClusterFootprint(FootprintMap& launch);

  void begin_cluster(bool first_half);

  // Marks `count` sectors from `first` on, the address / 32. Sectors of no allocation are ignored.
  void mark(Touch touch, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t from = first - launch_.first_sector();
    for (std::uint64_t at = from, end = from + count; at < end;) {
      const std::uint64_t bit = at % 64, here = end - at < 64 - bit ? end - at : 64 - bit;
      if (at / 64 < words_) mark_word(touch, at / 64, (~std::uint64_t{0} >> (64 - here)) << bit);
      at += here;
    }
  }

  // Returns the distinct sectors of each cluster since the last call, summed over the clusters.
  std::uint64_t take(Touch touch);

 private:
  void mark_word(Touch touch, std::uint64_t word, std::uint64_t bits) {
    const auto t = static_cast<std::size_t>(touch);
    std::uint64_t& known = maps_[t][word];
    const std::uint64_t more = bits & ~known;
    if (more == 0) return;
    if (known == 0) touched_[t].push_back(word);
    known |= more;
    sectors_[t] += static_cast<std::uint64_t>(std::popcount(more));
    launch_.mark(touch, first_half_, word, more);
  }

  FootprintMap& launch_;
  bool first_half_ = true;
  const std::uint64_t words_;
  std::vector<SparseWords> maps_;
  std::vector<std::uint64_t> touched_[kTouches];  // words that are not 0
  std::uint64_t sectors_[kTouches] = {};
};

}  // namespace tessera::vgpu
