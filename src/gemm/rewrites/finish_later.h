// Epilogues for every kernel. A problem with an epilogue is first multiplied without the epilogue,
// and a last step computes D from the unrounded sums:
//
//   D of the type of the sums     D holds alpha A B + beta C, until the last step overwrites it
//   any other D                   a temp holds alpha A B, in the type of the sums; the last step
//                                 adds C, of any floating type
//
// So D is rounded once, whichever kernel multiplies. WHY not only in the stores of kernels: each
// kernel that applies an epilogue is compiled once more, and there are sixty. A bias that a kernel
// can add as C needs no last step (bias_as_c.h).
#pragma once

#include "gemm/rewrites/route.h"

namespace tessera::gemm {

// Not ok if no last step has the types of the problem, if the sums are too many bytes for 63
// bits, or if a batch of pointers would need an array of addresses of sums. Expects a legal
// problem with leading dimensions.
Status check_sums(const Problem& problem);
// The problem without the epilogue, whose D holds the sums.
Problem problem_of_sums(const Problem& problem);

Status add_finish_later(const Route& from, const DeviceLimits& limits, std::vector<Route>& routes);

}  // namespace tessera::gemm
