// Which kernel of the catalog to use where nobody names one. A model, not a measurement: a kernel's
// measured rate on a full GPU, shared among waves of its tiles, some of them empty; for a
// persistent grid the waves of its schedule, with what cutting, turning and copying cost.
#pragma once

#include "catalog/catalog.h"
#include "problem/problem.h"

namespace tessera::gemm {

// The kernel expected to be fastest for this problem on a GPU of that many multiprocessors.
// Throws kUnsupported when no kernel takes the problem.
KernelChoice best_kernel(const Problem& problem, int multiprocessors);

// The model behind it: milliseconds that the kernel is expected to need; exposed for tests and for
// people who ask why.
double predicted_milliseconds(const KernelRow& row, double full_tflops, const Problem& problem,
                              int multiprocessors);

}  // namespace tessera::gemm
