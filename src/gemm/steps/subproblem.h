// A product on its way to a kernel: a problem, and the planned addresses of its operands. Rewrites
// turn the caller's problem into simpler ones.
#pragma once

#include <array>

#include "gemm/options.h"
#include "gemm/steps/step.h"
#include "kernels/schedule/batch.h"

namespace tessera::gemm {

// The problem is legal and has its leading dimensions; alpha and beta are 0 or 1.
struct Subproblem {
  Problem problem;
  Alignment alignment;  // of the operands of a batch's first product
  std::array<PlannedAddress, kOperands> at;

  PlannedAddress& operator[](OperandId id) { return at[static_cast<std::size_t>(id)]; }
  const PlannedAddress& operator[](OperandId id) const { return at[static_cast<std::size_t>(id)]; }
};

// The alignment in bytes that the operands have in every product of a batch.
Alignment alignment_in_batch(const Subproblem& product);

// The caller's problem, whose operands are the slots of a call.
Subproblem subproblem_of(const Problem& problem, const Alignment& alignment);
// The product in the other order (row-major or column-major), with A and B exchanged.
Subproblem exchanged(const Subproblem& product);
// The product in row-major order: exchanged if it was column-major.
Subproblem row_major(const Subproblem& product);

// The batch of a row-major problem as a kernel parameter, with strides in bytes. `tiles_m`: rows of
// tiles of each product. Expects a count that fits an int.
schedule::Batch batch_params(const Problem& problem, std::int64_t tiles_m);

}  // namespace tessera::gemm
