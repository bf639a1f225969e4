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
  // For each position whose instruction moves but leaves its wait there: what this wait needs,
  // whichever instruction is moved to the position.
  std::vector<std::vector<Dependence>> at_place;
  std::vector<std::size_t> not_before;  // the place of the last such wait that must come first
};
// Returns the dependences of a region. Registers of all files cause them, by reads after writes,
// writes after reads and writes after writes. Waits cause them, too: an instruction that needs the
// result of a wait stays after the wait. `moves` tells for each instruction of the program whether
// it moves; an instruction that moves leaves its wait behind.
Dependences dependences_of(const Program& program, const Region& region, const Waits& waits,
                           const std::vector<bool>& moves);

}  // namespace tessera::sass
