#include "gemm/bind.h"

namespace tessera::gemm {
namespace {

// Launches for the edges of D are the only ones that can be done without.
Status check_workspace(const KernelChoice& choice, const KernelRow& row, const Problem& problem,
                       PlanContext context) {
  context.options.edges = When::kNever;
  const std::int64_t least = choice.kernel->workspace_bytes(row, problem, context);
  if (least > context.workspace_bytes || (least > 0 && context.workspace == 0)) {
    return Status::bad_argument(
        "workspace holds " + std::to_string(context.workspace == 0 ? 0 : context.workspace_bytes) +
        " bytes, but " + choice.kernel->name + " needs at least " + std::to_string(least) +
        " for this problem");
  }
  return {};
}

}  // namespace

std::int64_t workspace_bytes(const KernelChoice& choice, const Problem& problem,
                             int multiprocessors, const PlanOptions& options) {
  require(check(problem));
  const PlanContext context{.multiprocessors = multiprocessors, .options = options};
  return choice.kernel->workspace_bytes(
      row_for(*choice.kernel, choice.variant, problem, {}, context), problem, context);
}

Bound bind(const KernelChoice& choice, const Problem& problem, const Operands& operands,
           const PlanContext& context) {
  require(check(problem));
  require(check_overlap(problem, operands));
  const KernelRow& row = row_for(*choice.kernel, choice.variant, problem, operands, context);
  require(supports(*choice.kernel, row, problem));
  require(check_workspace(choice, row, problem, context));
  return {&row, choice.kernel->plan(row, problem, operands, context)};
}

void run(Device& device, const KernelChoice& choice, const Plan& plan) {
  if (plan.launches.empty()) return;
  const LoadedImage image = device.load(image_of(*choice.kernel));
  for (const Launch& launch : plan.launches) device.launch(image, launch);
}

}  // namespace tessera::gemm
