// Finds the live ranges of registers. A register holds many values, one after the other. Each value
// has a live range: all writes that may reach a common read, and the code from the first write to
// the last read. Ranges that are never live at once may share a register, so renaming works on
// ranges, not on registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sass/model/flow.h"

namespace tessera::sass {

inline constexpr int kNoRange = -1;

struct LiveRange {
  int reg = 0;               // general register that holds the value
  bool is_at_entry = false;  // read without being written: holds a value from the kernel's start
  // Bit i tells whether the value is live after instruction i.
  std::vector<std::uint64_t> live;

  bool is_live_after(std::size_t at) const { return (live[at / 64] >> at % 64 & 1) != 0; }
  void set_live_after(std::size_t at) { live[at / 64] |= std::uint64_t{1} << at % 64; }
  bool meets(const LiveRange& other) const;
};

struct LiveRanges {
  std::vector<LiveRange> ranges;
  // Return the range that an instruction reads or writes in a general register; kNoRange without
  // such an access.
  int read_at(std::size_t at, int reg) const { return find(reads[at], reg); }
  int written_at(std::size_t at, int reg) const { return find(writes[at], reg); }

  using Named = std::vector<std::pair<int, int>>;  // register and range
  std::vector<Named> reads, writes;
  // For each block: the ranges that are live at its start.
  std::vector<Named> at_entry;

 private:
  static int find(const Named& named, int reg) {
    for (const auto& [number, range] : named) {
      if (number == reg) return range;
    }
    return kNoRange;
  }
};

// Returns the live ranges of all general registers, on all paths. Unreachable code has none.
LiveRanges live_ranges_of(const Program& program);

}  // namespace tessera::sass
