// What has to come before what in a stretch of code, and by how many cycles. Internal to src/sass.
#pragma once

#include <cstddef>
#include <vector>

#include "sass/reorder.h"

namespace tessera::sass {

struct Dependence {
  std::size_t on = 0;  // counts from the start of the region
  int cycles = 0;      // least between the two issues; 0: only the order matters
};

// By instruction of the region. Covers registers of all files, both ways of meeting, and waits: who
// needs what a wait settles stays behind it.
std::vector<std::vector<Dependence>> dependences_of(const Program& program, const Region& region,
                                                    const Waits& waits);

}  // namespace tessera::sass
