// A kernel as a drawing: which outputs a block, a warp and a lane compute, which sectors of global
// memory one warp touches, and which banks its accesses to shared memory touch. All of it is
// derived from the accesses of one thread block on the virtual GPU. Nothing is taken from the
// kernel's documentation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/counts/count_run.h"
#include "lab/sites/sites.h"

namespace tessera::lab {

// An output element that the warp stores. Row and column count from the first element of the
// block's tile.
struct DrawnOutput {
  std::int64_t row = 0, col = 0;
  std::uint32_t lane = 0;
};

// A row of 128 bytes of global memory that begins at a multiple of 128, and the words (of 4 bytes)
// in it that the lanes request.
struct DrawnBytes {
  std::uint64_t address = 0;
  std::uint32_t words = 0;  // one bit per word
};

struct DrawnRequest {
  std::string name;  // "A", "D"
  bool is_store = false;
  int bytes = 4;  // per lane
  std::vector<DrawnBytes> rows;
  int sectors() const;
};

struct DrawnWavefront {
  std::uint32_t banks = 0;  // a bit for each bank that serves a word
  bool is_excess = false;   // an earlier wavefront served lanes that conflict with these
};

// One access to shared memory.
struct DrawnBanks {
  std::string name;  // "tile_b"
  bool is_store = false;
  int bytes = 4;  // per lane
  std::vector<DrawnWavefront> wavefronts;
  std::uint32_t counted = 0;  // wavefronts, by the bank model
  int excess() const;
};

// The cost of one iteration of the main loop, in machine instructions per multiply of a warp. 0:
// not known.
struct DrawnLoop {
  double instructions = 0, port_cycles = 0;  // port_cycles: lost to the register ports (model)
};

// The drawing of a kernel. As in the kernel, D is row-major. For a column-major call, the kernel
// gets A and B exchanged, so the drawing's A, B, m and n are the call's B, A, n and m.
struct KernelPicture {
  std::string kernel, config;
  Problem problem;
  BlockTile block;
  int threads = 0;
  std::uint32_t warp = 0;
  bool is_exchanged = false;  // whether the call is column-major
  std::vector<DrawnOutput> outputs;
  std::vector<DrawnRequest> global;
  std::vector<DrawnBanks> shared;
  double fma_per_shared_load = 0;
  DrawnLoop loop;
};

// Returns the operand's name: "A", or "A (the call's B)" for a column-major call. Operands other
// than A and B keep their names.
std::string name_in_call(const KernelPicture& picture, const std::string& name);

KernelPicture picture_of(const TracedRun& traced, const SourceTree& tree);
// Draws the kernel from a run of the grid's corner blocks on a separate virtual GPU.
KernelPicture draw(const KernelChoice& kernel, const Problem& problem, std::uint64_t seed);

// Returns the conclusion of the drawing in one or two sentences: the numbers of one kernel, or what
// changes from the first kernel to the second.
std::string conclusion_of(const KernelPicture& picture);
std::string conclusion_of(const KernelPicture& before, const KernelPicture& after);

// One drawing, or two side by side, "before" and "after".
std::string picture_svg(const KernelPicture& picture);
std::string picture_svg(const KernelPicture& before, const KernelPicture& after);

}  // namespace tessera::lab
