// The order that a stretch of code requires: which instructions must come before which others, and
// by how many cycles. Internal to src/sass.
#pragma once

#include <cstddef>
#include <vector>

#include "sass/rewrite/reorder.h"

namespace tessera::sass {

struct Dependence {
  std::size_t on = 0;  // counts from the start of the region
  int cycles = 0;      // least between the two issues; 0: only the order matters
};

// The dependences, by instruction of the region, or by place in it.
struct Dependences {
  std::vector<std::vector<Dependence>> before;
  // For places that keep their wait, whichever instruction is moved there: what the wait needs.
  std::vector<std::vector<Dependence>> at_place;
  std::vector<std::size_t> not_before;  // the place of the last such wait that it needs
};
// Covers registers of all files, both kinds of hazard, and waits: an instruction that needs what a
// wait settles stays after the wait. `moves`, by place in the program: an instruction that moves
// leaves its wait.
Dependences dependences_of(const Program& program, const Region& region, const Waits& waits,
                           const std::vector<bool>& moves);

}  // namespace tessera::sass
