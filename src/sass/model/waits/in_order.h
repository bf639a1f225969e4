// Tells which instructions finish in the order in which they were issued, so that a wait for a
// later one is also a wait for an earlier one.
#pragma once

#include "sass/decode/operation.h"

namespace tessera::sass {

// Whether the results of `second` arrive after those of `first`.
bool write_in_order(const Operation& first, const Operation& second);
// Whether `second` reads its registers after `first` has read its own.
bool read_in_order(const Operation& first, const Operation& second);
// Whether the operation is a load, store or atomic on any kind of memory.
bool is_memory(const Operation& operation);
// Whether the operation's predicate is written as soon as its registers have been read.
bool writes_predicate_early(const Operation& operation);

}  // namespace tessera::sass
