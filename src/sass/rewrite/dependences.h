// A constraint on the order of instructions: which one must come first, and by how many cycles.
// Internal to src/sass.
#pragma once

#include <cstddef>
#include <vector>

#include "sass/rewrite/reorder.h"

namespace tessera::sass {

struct Dependence {
  std::size_t on = 0;  // counts from the start of the region
  int cycles = 0;      // least between the two issues; 0: only the order matters
};

// The dependences of a region, by instruction or by position in the region.
struct Dependences {
  std::vector<std::vector<Dependence>> before;
  // For each position whose wait stays there: what the wait needs, whichever instruction is moved
  // there.
  std::vector<std::vector<Dependence>> at_place;
  std::vector<std::size_t> not_before;  // the place of the last such wait that it needs
};
// Returns the dependences through registers of all files, of both kinds of hazard, and through
// waits: an instruction that needs the result of a wait stays after the wait. `moves` tells for
// each instruction of the program whether it moves; an instruction that moves does not take its
// wait along.
Dependences dependences_of(const Program& program, const Region& region, const Waits& waits,
                           const std::vector<bool>& moves);

}  // namespace tessera::sass
