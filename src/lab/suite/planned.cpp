#include "lab/suite/planned.h"

#include <utility>

namespace tessera::lab {

PlannedCall::PlannedCall(Device& device, const Problem& problem, const Operands& operands,
                         const gemm::PlanOptions& options)
    : PlannedCall(device, problem,
                  gemm::plan(problem, gemm::alignment_of(operands), gemm::limits_of(device.info()),
                             options)) {}

PlannedCall::PlannedCall(Device& device, const Problem& problem, gemm::Plan plan_of_it)
    : alpha_(problem.alpha),
      beta_(problem.beta),
      prepared_(gemm::prepare(device, std::move(plan_of_it))),
      workspace_(device, static_cast<std::size_t>(plan().workspace_bytes())) {}

void PlannedCall::run(const Operands& operands) const {
  execute(prepared_, {.operands = operands,
                      .alpha = alpha_,
                      .beta = beta_,
                      .workspace = workspace_.address(),
                      .workspace_bytes = static_cast<std::int64_t>(workspace_.bytes())});
}

std::string name_of(const gemm::Candidate& offer) {
  return offer.kernel->name + "/" + std::string(offer.row->variant);
}

}  // namespace tessera::lab
