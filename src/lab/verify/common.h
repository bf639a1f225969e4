// Finds what the failing cases have in common: 170 failures say less than "all of them have k > 32
// and odd leading dimensions".
#pragma once

#include <string>
#include <vector>

#include "lab/verify/lattice.h"

namespace tessera::lab {

// The properties that all the failed cases have: "k > 32", "m mod 4 = 3", "A transposed", ... The
// first property is the one that the fewest passed cases have. Each further property excludes more
// passed cases, until no passed case is left or no property helps. Empty if fewer than three cases
// failed, as these share much by chance, or if no property distinguishes failed from passed cases.
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
