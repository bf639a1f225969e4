// Kernels access memory in few patterns: between executions of an instruction the base moves, but
// the distances between lanes stay. So a pattern is analysed once; then its uses are counted.
//
// In shared memory a pattern costs the same for every base, because a moved base only rotates the
// banks. In global memory the cost depends on the offset of the base in its line: the phase.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/observe/count/footprint_map.h"
#include "vgpu/observe/count/sectors.h"
#include "vgpu/report/observer.h"

namespace tessera::vgpu {

// One set of distances between lanes, for accesses of one kind to one memory.
class Pattern {
 public:
  // `merges` has the meaning of count_banks().
  Pattern(const WarpAccess& access, bool merges);

  bool matches(const WarpAccess& access) const {
    if (access.by.mask != mask_ || access.window != window_ || access.kind != kind_ ||
        access.bytes != bytes_ || access.address[0] % kStep != remainder_) {
      return false;
    }
    std::uint64_t difference = 0;
    for (std::size_t l = 0; l < distance_.size(); ++l) {
      difference |= (access.address[l] - access.address[0]) ^ distance_[l];
    }
    return difference == 0;
  }

  void count_shared() { ++shared_hits_; }
  // `to` is null for local memory, which has no footprint.
  void count_global(std::uint64_t base, ClusterFootprint* to);

  // Adds the counts since the last call to `to`.
  void flush(MemoryCounts& to);
  // Makes the next access mark its sectors even if the last access marked the same ones.
  void forget_place() { marked_ = nullptr; }

 private:
  static constexpr std::uint64_t kStep = 4;  // bytes from phase to phase
  static constexpr std::size_t kPhases = kLineBytes / kStep;

  struct Phase {
    std::uint64_t hits = 0;
    const std::vector<SectorRun>* runs = nullptr;  // from the base's sector; null: not known yet
    GlobalCounts once;
  };

  Phase& phase_of(std::uint64_t base);
  const std::vector<SectorRun>* kept(std::vector<SectorRun> runs);
  void mark(ClusterFootprint& to, std::uint64_t sector) const;

  std::uint32_t mask_;
  Window window_;
  AccessKind kind_;
  std::uint32_t bytes_;
  std::uint64_t remainder_;
  std::array<std::uint64_t, 32> distance_;  // from lane 0
  const std::vector<SectorRun>* marked_ = nullptr;
  std::uint64_t marked_sector_ = 0;
  std::uint64_t same_address_lanes_ = 0;  // lanes of atomics
  std::uint64_t shared_hits_ = 0;
  SharedCounts shared_once_;
  std::array<Phase, kPhases> phases_;
  std::vector<std::unique_ptr<const std::vector<SectorRun>>> runs_;
};

// The last few patterns of one instruction.
class PatternMemo {
 public:
  // `merges` has the meaning of count_banks().
  Pattern& find(const WarpAccess& access, bool merges);
  void forget_places();
  MemoryCounts take();  // since the last call

 private:
  static constexpr std::size_t kKept = 4;
  std::array<std::unique_ptr<Pattern>, kKept> patterns_;
  std::size_t last_ = 0, next_ = 0;
  MemoryCounts counts_;
};

}  // namespace tessera::vgpu
