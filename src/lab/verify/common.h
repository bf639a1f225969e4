// Finds what the failing cases have in common: 170 failures say less than "all of them have k > 32
// and odd leading dimensions".
#pragma once

#include <string>
#include <vector>

#include "lab/verify/lattice.h"

namespace tessera::lab {

// The properties that all the failed cases have: "k > 32", "m mod 4 = 3", "A transposed", ... The
// first one is that which the fewest passed cases have; each further one excludes more of the
// passed ones, until none is left or nothing helps. Empty with fewer than three failures, which
// share too much by chance, or if no property distinguishes them from the others.
struct Shared {
  std::vector<std::string> properties;
  std::size_t passed_too = 0;  // passed cases that have all of these properties
};
Shared shared_by_failures(const std::vector<LatticeCase>& failed,
                          const std::vector<LatticeCase>& passed);

// Returns "All 173 have k > 32 and m mod 4 = 3; of the 40 that pass, 2 have that, too."; "" if they
// share nothing.
std::string shared_text(const std::vector<LatticeCase>& failed,
                        const std::vector<LatticeCase>& passed);

}  // namespace tessera::lab
