// Whether matrices in memory share an element. Ranges of addresses are not enough: sub-blocks of
// one matrix interleave, and products of a batch may interleave, too.
#pragma once

#include "base/status.h"
#include "problem/problem.h"

namespace tessera {

// Returns an error if two products of a strided batch share an element of an output. The message
// names the output's stride.
Status check_outputs_apart(const Problem& problem);

}  // namespace tessera
