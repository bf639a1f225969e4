// Which instructions finish in the order in which they were issued, so that a wait for a later one
// is also one for an earlier one.
#pragma once

#include "sass/decode/operation.h"

namespace tessera::sass {

// Results of the second one arrive after those of the first one.
bool write_in_order(const Operation& first, const Operation& second);
// The second one reads its registers after the first one has read its own.
bool read_in_order(const Operation& first, const Operation& second);
// Loads, stores and atomics, whatever memory they are for.
bool is_memory(const Operation& operation);
// Its predicate is written when its registers have been read.
bool writes_predicate_early(const Operation& operation);

}  // namespace tessera::sass
