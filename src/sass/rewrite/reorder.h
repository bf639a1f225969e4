// Finds a better order of instructions. The FFMAs of a matrix product depend little on each other:
// most of them may change places, and their order determines how often the register ports are busy.
// The other instructions keep their places, and FFMAs move between them as far as values and
// distances allow. The result is a proposal; patch.h proves it.
#pragma once

#include <cstddef>
#include <vector>

#include "sass/model/flow.h"
#include "sass/model/ports.h"
#include "sass/model/register_dependences.h"

namespace tessera::sass {

struct ReorderOptions {
  PortRules ports;
  int beam = 128;      // orders that are followed at a time
  int lookahead = 32;  // number of next FFMAs that are tried
  // Where the warp lets the other warps of the sub-core go first: at one FFMA in `yield_every` (at
  // no FFMA if 0) and, with `stalls_yield`, at every stall.
  // TRIED: on an H200, a 256x128 tile with two warps per sub-core loses time if one FFMA in 16
  // yields, if LDS yield and, least of all, if stalls yield: the other warp's operands replace the
  // operands that are kept. Small loops of FFMAs alone had gained.
  int yield_every = 0;
  bool stalls_yield = false;
};

// A part of one block that can be reordered: it contains no branch, no barrier, and no instruction
// that is missing from the decoder's table.
struct Region {
  std::size_t begin = 0, end = 0;
};
// Returns the regions in which at least `least` instructions may move.
std::vector<Region> regions_of(const Program& program, int least);

// Whether the instruction may move: an FFMA, FMUL or FADD without a guard or a scoreboard. If it
// waits for a scoreboard, the wait stays at the old place, and the instruction moves only after it.
bool may_move(const Program& program, std::size_t at);

// The waits of a program by waiting instruction, as visit_register_dependences reports them.
using Waits = std::vector<std::vector<ScoreboardWait>>;
Waits waits_of(const Program& program);

struct NewOrder {
  std::vector<std::size_t> order;  // old places, in the new order; empty if no order is better
  std::vector<Instruction> code;   // with new control fields
  // The cycles of the region on its own: stalls, cycles lost to ports, and the estimated cost of
  // crowded FFMAs.
  double cycles_before = 0, cycles = 0;
};
// Instructions marked in `pinned` (by position in the program) do not move.
NewOrder reorder(const Program& program, const Region& region, const Waits& waits,
                 const std::vector<bool>& pinned, const ReorderOptions& options);

}  // namespace tessera::sass
