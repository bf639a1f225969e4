// The FFMAs of a matrix product depend little on each other: most of them may change places, and
// their order decides how often the register ports are busy. This looks for a better order of a
// stretch of code: the other instructions keep their places, and FFMAs move between them as far as
// values and distances allow. The result is a proposal; patch.h proves it.
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
  // Where the other warps of the sub-core may go first: at one FFMA in `yield_every` (0: at none),
  // and, with `stalls_yield`, at every stall.
  // TRIED: on an H200, a 256x128 tile with two warps per sub-core loses by one FFMA of 16 that
  // yields, by yields on LDS and, least, by those on stalls: the other warp's operands take the
  // place of those that are kept. Small loops of FFMAs alone had gained.
  int yield_every = 0;
  bool stalls_yield = false;
};

// A stretch of one block that nothing divides: no branch, barrier, or instruction without a row in
// our table.
struct Region {
  std::size_t begin = 0, end = 0;
};
// Regions in which at least `least` instructions may move.
std::vector<Region> regions_of(const Program& program, int least);

// Which instructions may move: FFMA, FMUL, FADD without a guard or a scoreboard. What they wait for
// stays at the place where they stood, and they move only after it.
bool may_move(const Program& program, std::size_t at);

// Waits of a program by the waiting instruction, as visit_register_dependences reports them.
using Waits = std::vector<std::vector<ScoreboardWait>>;
Waits waits_of(const Program& program);

struct NewOrder {
  std::vector<std::size_t> order;  // old places, in their new order; empty if none is better
  std::vector<Instruction> code;   // with new control fields
  // For the region on its own: stalls, bubbles, and the estimated cost of crowded FFMAs.
  double cycles_before = 0, cycles = 0;
};
// `pinned` instructions (by place in the program) do not move.
NewOrder reorder(const Program& program, const Region& region, const Waits& waits,
                 const std::vector<bool>& pinned, const ReorderOptions& options);

}  // namespace tessera::sass
