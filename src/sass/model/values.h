// Proves that a patched kernel gives the same bits, not merely close ones. Floating-point sums
// depend on the order of their terms, so the proof compares expressions, not numbers: both versions
// are run on symbols, block by block, and must leave the same expression in every register and
// write the same expressions to memory, in the same order.
#pragma once

#include <cstddef>
#include <string>

#include "sass/model/flow.h"
#include "sass/model/renaming.h"

namespace tessera::sass {

struct Equality {
  bool is_proved = false;
  std::string reason;           // if not proved: the first place that differs, and the difference
  std::size_t blocks = 0;       // compared
  std::size_t expressions = 0;  // different expressions
  std::size_t effects = 0;      // loads, stores, branches, barriers: same order in both versions
};

// Both versions must have the same length and the same blocks. An instruction's operation is taken
// from its bits without the control field, its reads and writes from decode().
Equality prove_equal(const Program& before, const Program& after,
                     const Renaming& renaming = no_renaming());

// Whether the result depends only on the registers that the operation reads. The proof lets such
// instructions change places with all others.
bool is_pure(const Operation& operation);

}  // namespace tessera::sass
