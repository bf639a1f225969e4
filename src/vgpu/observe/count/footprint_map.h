// Which sectors of global memory a launch has touched: a bit each, in pages that exist only where
// somebody touched something. All worker threads share it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "vgpu/memory/global.h"
#include "vgpu/observe/memory_counts.h"

namespace tessera::vgpu {

class FootprintMap {
 public:
  // Of the allocations as they are now; the sample's clusters mark one of two halves.
  FootprintMap(const GlobalMemory& memory, bool halves);
  ~FootprintMap();
  FootprintMap(const FootprintMap&) = delete;
  FootprintMap& operator=(const FootprintMap&) = delete;

  enum Kind { kRead, kWritten, kKinds };
  // Sectors by number, which is the address / 32; those of no allocation are left out.
  void mark(Kind kind, bool first_half, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t from = first - first_sector_;
    if (from >= sectors_ || count > sectors_ - from) return;
    Word* words = maps_[kind][halves_ && !first_half];
    for (std::uint64_t at = from, end = from + count; at < end;) {
      const std::uint64_t bit = at % 64;
      const std::uint64_t here = end - at < 64 - bit ? end - at : 64 - bit;
      set(words[at / 64], (~std::uint64_t{0} >> (64 - here)) << bit);
      at += here;
    }
  }

  // Of the whole launch; `share` of its clusters ran.
  Footprint result(double share) const;

 private:
  using Word = std::uint64_t;

  // WHY the look first: nearly all sectors are marked already, and a look is shared by all threads.
  static void set(Word& word, Word bits) {
    const std::atomic_ref<Word> shared(word);
    if ((shared.load(std::memory_order_relaxed) & bits) == bits) return;
    shared.fetch_or(bits, std::memory_order_relaxed);
  }

  std::uint64_t count(Kind kind, double share) const;
  std::uint64_t count_block(Kind kind, std::uint64_t from, std::uint64_t to, double share) const;

  const GlobalMemory& memory_;
  bool halves_;
  std::uint64_t first_sector_ = 0, sectors_ = 0;
  std::size_t map_bytes_ = 0;
  Word* maps_[kKinds][2] = {};
};

}  // namespace tessera::vgpu
