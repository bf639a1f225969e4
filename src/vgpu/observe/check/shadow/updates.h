// Finds stores of a value that a lane computed from the value that it had read at that address. If
// several lanes of a warp update one word at the same time in this way, only one update remains.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "vgpu/observe/flow/flow.h"
#include "vgpu/program/program.h"
#include "vgpu/report/observer.h"

namespace tessera::vgpu::check {

class Updates {
 public:
  // The lanes of a store that have read the word that they store to, and the instruction that read
  // it.
  struct Seen {
    const Update* update = nullptr;
    std::uint32_t load = 0;  // instruction
    std::uint32_t lanes = 0;
  };

  Updates(const Kernel& kernel, const std::vector<Update>* updates);
  void begin(std::size_t warps);  // begins a cluster; its warps have read nothing

  bool watch(std::uint32_t instruction) const { return watched_[instruction] != 0; }
  void note_load(std::uint32_t warp, const WarpAccess& access, std::uint32_t lanes) {
    if (watch(access.by.instruction)) note(warp, access, lanes);
  }
  std::vector<Seen> of_store(std::uint32_t warp, const WarpAccess& access) const;

 private:
  void note(std::uint32_t warp, const WarpAccess& access, std::uint32_t lanes);
  struct Pair {
    const Update* update = nullptr;
    std::uint32_t load = 0;
  };
  // The last read of each lane of a warp.
  struct Last {
    std::uint32_t lanes = 0;
    std::array<std::uint64_t, 32> place = {};
    std::uint32_t bytes = 0;
  };

  std::vector<std::uint32_t> watched_;    // by instruction: 0, or 1 + index below
  std::vector<std::vector<Pair>> pairs_;  // stores
  std::vector<std::vector<Last>> last_;   // loads, by warp
};

}  // namespace tessera::vgpu::check
