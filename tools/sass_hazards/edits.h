// Small changes of a compiled kernel that shorten one wait or one stall, for tests of the hazard
// checker. Not every one is a mistake: many stalls are longer than any result needs.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "sass/model/flow.h"

namespace tessera::sass {

struct Edit {
  enum class Kind { kWait, kStall };
  Kind kind;
  std::size_t at = 0;   // instruction
  int scoreboard = -1;  // kWait: no longer waited for
  int stall = 0;        // kStall: the new one, from 1 to one less than the old one
};

// One edit for each scoreboard of each wait, and one for each stall of two cycles or more with a
// new stall drawn from `random`. Code that no way leads to has none.
std::vector<Edit> edits_of(const Program& program, std::mt19937_64& random);
Program edited(const Program& program, const Edit& edit);

}  // namespace tessera::sass
