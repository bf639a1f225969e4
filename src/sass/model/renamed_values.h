// The value proof for code whose registers have other names, and other ones in each block. Where a
// block begins, each live register of the first version has its counterpart in the second; from
// there both are run on symbols (values.h), and must do the same to memory with the same values and
// leave each value where the next block looks for it.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "sass/model/flow.h"
#include "sass/model/values.h"

namespace tessera::sass {

// Per block: general registers of the first version, and the registers in which the second version
// keeps their values.
using BlockRenaming = std::vector<std::pair<int, int>>;

// Both versions must have the same length and the same blocks. Registers that a block does not list
// may hold anything in the second version. Where the kernel begins, names must be the same. Nothing
// is believed about the renaming: a wrong one is not proved.
Equality prove_equal(const Program& before, const Program& after,
                     std::span<const BlockRenaming> renaming);

}  // namespace tessera::sass
