// Whether matrices in memory share an element. Ranges of addresses are not enough: sub-blocks of
// one matrix interleave, and so may the products of a batch.
#pragma once

#include "base/status.h"
#include "problem/problem.h"

namespace tessera {

// Not ok if two products of a strided batch share an element of D: names stride_d.
Status check_outputs_apart(const Problem& problem);

}  // namespace tessera
