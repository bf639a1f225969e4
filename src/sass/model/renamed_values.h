// Proves that two versions of code compute the same values if registers are renamed, differently in
// each block. At the start of a block, each live register of the first version has a counterpart in
// the second. From there both versions are run on symbols (values.h): they must have the same
// effects on memory, with the same values, and leave each value where the next block expects it.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "sass/model/flow.h"
#include "sass/model/values.h"

namespace tessera::sass {

// For each block: general registers of the first version, each with the register of the second
// version that holds the same value.
using BlockRenaming = std::vector<std::pair<int, int>>;

// Both versions must have the same length and the same blocks. Registers that a block does not list
// may hold anything in the second version. At the kernel's entry, no register may be renamed. The
// renaming is not trusted: with a wrong one, the proof fails.
Equality prove_equal(const Program& before, const Program& after,
                     std::span<const BlockRenaming> renaming);

}  // namespace tessera::sass
