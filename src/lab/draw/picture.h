// A kernel as a drawing: which outputs a block, a warp and a lane compute, which sectors of global
// memory one warp touches, and which banks its accesses to shared memory meet. All of it is taken
// from the accesses of one thread block on the virtual GPU, none from a kernel's own page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/counts/count_run.h"
#include "lab/explain/sites.h"

namespace tessera::lab {

// An output that the warp stores, from the first of its block's tile.
struct DrawnOutput {
  std::int64_t row = 0, col = 0;
  std::uint32_t lane = 0;
};

// A line of 128 bytes of global memory: the words (of 4 bytes) that the lanes ask for.
struct DrawnLine {
  std::uint64_t address = 0;
  std::uint32_t words = 0;  // a bit each
};

struct DrawnRequest {
  std::string name;  // "A", "D"
  bool is_store = false;
  int bytes = 4;  // per lane
  std::vector<DrawnLine> lines;
  int sectors() const;
};

// One access to shared memory. `banks`: distinct words of each bank in the busiest pass.
struct DrawnBanks {
  std::string name;  // "tile_b"
  bool is_store = false;
  int bytes = 4;  // per lane
  std::vector<int> banks;
  int passes = 1, wavefronts = 1;
};

struct KernelPicture {
  std::string kernel, config;
  Problem problem;
  BlockTile block;
  int threads = 0;
  std::uint32_t warp = 0;
  std::vector<DrawnOutput> outputs;
  std::vector<DrawnRequest> global;
  std::vector<DrawnBanks> shared;
};

KernelPicture picture_of(const TracedRun& traced, const SourceTree& tree);
// The same of a run on a virtual GPU of its own, of the corner blocks of the grid.
KernelPicture draw(const KernelChoice& kernel, const Problem& problem, std::uint64_t seed);

// One drawing, or two side by side, "before" and "after".
std::string picture_svg(const KernelPicture& picture);
std::string picture_svg(const KernelPicture& before, const KernelPicture& after);

}  // namespace tessera::lab
