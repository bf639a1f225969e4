// Epilogues for every kernel. A problem with an epilogue is first multiplied without it, into a D
// of unrounded sums, and a last step computes D from them:
//
//   D of the type of the sums     alpha A B + beta C goes to D, and is finished there
//   any other D                   alpha A B goes to a temp, as FP32; C, of any floating type, is
//                                 added with the rest
//
// So D is rounded once, whichever kernel multiplies. WHY not only in each kernel's store: a kernel
// that is compiled with an epilogue is one more kernel, and there are sixty. A bias that a kernel
// can add as C needs no last step (bias_as_c.h).
#pragma once

#include "gemm/rewrites/route.h"

namespace tessera::gemm {

// Expects a legal problem with its leading dimensions. Not ok where no last step has its types,
// where its sums are more than 63 bits of bytes, or where no array of their addresses is in device
// memory.
Status check_sums(const Problem& problem);
// The problem that is multiplied first.
Problem problem_of_sums(const Problem& problem);

Status add_finish_later(const Route& from, const DeviceLimits& limits, std::vector<Route>& routes);

}  // namespace tessera::gemm
