// Finds the loops whose FFMAs are worth a search. Internal to src/sass.
#pragma once

#include <vector>

#include "sass/container/cubin.h"

namespace tessera::sass {

// Returns the loops that contain FFMAs and no inner loop with FFMAs. Loops that only wait for a
// barrier may lie inside.
std::vector<const Loop*> multiplying_loops(const std::vector<Loop>& loops);

// Returns the multiplying loops in which a kernel may spend its time: those with at least a quarter
// as many FFMAs as the loop with most FFMAs. Smaller loops only scale results before a store.
std::vector<const Loop*> main_loops(const std::vector<Loop>& loops);

}  // namespace tessera::sass
