// A product on its way to a kernel: its problem, and where its operands are. Rewrites turn the
// caller's into simpler ones.
#pragma once

#include <array>

#include "gemm/options.h"
#include "gemm/steps/step.h"
#include "kernels/schedule/batch.h"

namespace tessera::gemm {

// Legal, with its leading dimensions; alpha and beta are 0 or 1.
struct Subproblem {
  Problem problem;
  Alignment alignment;  // of each operand of the first product of a batch
  std::array<PlannedAddress, kOperands> at;

  PlannedAddress& operator[](OperandId id) { return at[static_cast<std::size_t>(id)]; }
  const PlannedAddress& operator[](OperandId id) const { return at[static_cast<std::size_t>(id)]; }
};

// The alignment that the operands of every product of a batch have.
Alignment alignment_in_batch(const Subproblem& product);

// Its operands in the slots of a call.
Subproblem subproblem_of(const Problem& problem, const Alignment& alignment);
// The same product in the other order, with A and B exchanged.
Subproblem exchanged(const Subproblem& product);
// Exchanged where it is column-major.
Subproblem row_major(const Subproblem& product);

// The batch of a row-major problem as kernels are handed it: strides in bytes. `tiles_m`: rows of
// tiles of each product. Expects a count that fits an int.
schedule::Batch batch_params(const Problem& problem, std::int64_t tiles_m);

}  // namespace tessera::gemm
