// The epilogue of a problem: some kernels apply it in their store; else a last step reads sums,
// applies the epilogue and writes D.
#pragma once

#include <cstddef>

#include "gemm/steps/subproblem.h"
#include "kernels/epilogue/finish_params.h"

namespace tessera::gemm {

// Whether kernels with Kernel::applies_epilogue can apply this epilogue in their store.
bool is_fused(const Epilogue& epilogue);
// The epilogue of a row-major product as a parameter of kernels that apply it, without addresses;
// and the patches for the addresses, if the parameter is at byte `offset`.
epilogue::Fused fused_of(const Problem& problem);
void patch_fused(Step& step, std::size_t offset, const Subproblem& product);

// Not ok if no last step has the problem's types, or if the step cannot read C's type.
Status check_finish(const Problem& problem, bool sums_hold_c);

// The sums that the last step finishes, in row-major order.
struct Sums {
  bool are_in_d;              // D holds the sums, with C added
  PlannedAddress at;          // where the sums are if not in D
  std::int64_t row, product;  // elements between rows, and between products of a batch
};
Step finish_step(const Subproblem& product, const Sums& sums, const DeviceLimits& limits);

}  // namespace tessera::gemm
