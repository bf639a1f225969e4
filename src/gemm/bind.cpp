#include "gemm/bind.h"

namespace tessera::gemm {

std::int64_t workspace_bytes(const KernelChoice& choice, const Problem& problem,
                             int multiprocessors) {
  require(check(problem));
  const PlanContext context{.multiprocessors = multiprocessors};
  return choice.kernel->workspace_bytes(
      row_for(*choice.kernel, choice.variant, problem, {}, context), problem, context);
}

Bound bind(const KernelChoice& choice, const Problem& problem, const Operands& operands,
           const PlanContext& context) {
  require(check(problem));
  require(check_overlap(problem, operands));
  const KernelRow& row = row_for(*choice.kernel, choice.variant, problem, operands, context);
  require(supports(*choice.kernel, row, problem));
  return {&row, choice.kernel->plan(row, problem, operands, context)};
}

void run(Device& device, const KernelChoice& choice, const Plan& plan) {
  if (plan.launches.empty()) return;
  const LoadedImage image = device.load(image_of(*choice.kernel));
  for (const Launch& launch : plan.launches) device.launch(image, launch);
}

}  // namespace tessera::gemm
