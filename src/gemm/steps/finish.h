// The epilogue of a problem: in the store of the kernels that apply one, else by the last step,
// which reads sums and writes D.
#pragma once

#include <cstddef>

#include "gemm/steps/subproblem.h"
#include "kernels/epilogue/finish_params.h"

namespace tessera::gemm {

// Whether kernels apply this epilogue in their store (Kernel::applies_epilogue).
bool is_fused(const Epilogue& epilogue);
// The epilogue of a row-major product as such a kernel is handed it, without addresses; and the
// patches of these, where it begins at `offset` in the parameters.
epilogue::Fused fused_of(const Problem& problem);
void patch_fused(Step& step, std::size_t offset, const Subproblem& product);

// Not ok where no last step has these types, or where it does not read C's.
Status check_finish(const Problem& problem, bool sums_hold_c);

// The sums that the last step finishes, in row-major order.
struct Sums {
  bool are_in_d;              // D itself holds them, with C added
  PlannedAddress at;          // else here
  std::int64_t row, product;  // elements between rows, and between products of a batch
};
Step finish_step(const Subproblem& product, const Sums& sums, const DeviceLimits& limits);

}  // namespace tessera::gemm
