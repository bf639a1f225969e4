// Finds what the failing cases have in common: 170 failures say less than "all of them have k > 32
// and odd leading dimensions".
#pragma once

#include <string>
#include <vector>

#include "lab/verify/lattice.h"

namespace tessera::lab {

// "k > 32", "m mod 4 = 3", "A transposed", ...: properties that all the failed cases have. The one
// that the fewest passed cases share comes first; each further one rules out more of the passed
// ones, until none is left or nothing helps. Empty with fewer than three failures, which share too
// much by chance, or if no property distinguishes them from the others.
struct Shared {
  std::vector<std::string> properties;
  std::size_t passed_too = 0;  // passed cases that have all of these properties
};
Shared shared_by_failures(const std::vector<LatticeCase>& failed,
                          const std::vector<LatticeCase>& passed);

// "All 173 have k > 32 and m mod 4 = 3; of the 40 that pass, 2 have that, too." Empty where they
// share nothing.
std::string shared_text(const std::vector<LatticeCase>& failed,
                        const std::vector<LatticeCase>& passed);

}  // namespace tessera::lab
