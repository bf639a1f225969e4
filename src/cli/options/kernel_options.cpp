// The kernels that --kernel and --type select.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/options/options.h"
#include "gemm/plan/plan.h"
#include "gemm/rewrites/finish_later.h"
#include "gemm/rewrites/widen.h"

namespace tessera::cli {
namespace {

// The kernels that can compute products of these types: directly, after a launch that widens an
// operand, or with unrounded sums as output, to which a last step applies the epilogue.
std::vector<KernelChoice> kernels_for(const std::vector<KernelChoice>& kernels, const Types& types,
                                      const ProblemOptions& options) {
  Problem problem{.types = types};
  Types of_sums = types;
  if (!options.epilogue.empty()) {
    problem.epilogue = parse_epilogue(options.epilogue);
    if (!problem.epilogue.is_identity()) of_sums = gemm::problem_of_sums(problem).types;
  }
  std::vector<KernelChoice> fitting;
  std::copy_if(
      kernels.begin(), kernels.end(), std::back_inserter(fitting), [&](const KernelChoice& choice) {
        const Types& of_kernel = choice.kernel->types;
        return of_kernel == types || of_kernel == of_sums || of_kernel == gemm::widened(of_sums);
      });
  return fitting;
}

void refuse_best_in_a_list(const ProblemOptions& options) {
  if ((',' + options.kernel + ',').find(fmt::format(",{},", kBestKernel)) == std::string::npos)
    return;
  throw StatusError(Status::bad_argument(fmt::format(
      "{} is '{}', but 'best' cannot be in a list: it is another kernel for each problem; "
      "run the command twice",
      options.kernel_argument.empty() ? "kernel" : options.kernel_argument, options.kernel)));
}

// choose_kernels(); error messages name this command's argument instead of the field.
std::vector<KernelChoice> chosen_kernels(const ProblemOptions& options) {
  refuse_best_in_a_list(options);
  constexpr std::string_view kField = "kernel ";
  try {
    return choose_kernels(options.kernel);
  } catch (const StatusError& error) {
    const std::string& message = error.status().message;
    if (options.kernel_argument.empty() || !message.starts_with(kField)) throw;
    throw StatusError(
        Status::bad_argument(options.kernel_argument + " " + message.substr(kField.size())));
  }
}

}  // namespace

Types types_for_best(const ProblemOptions& options) {
  return options.type.empty() ? kF32Types : parse_types("--type", options.type);
}

KernelChoice best_kernel_for(const Problem& problem, const gemm::DeviceLimits& limits,
                             const gemm::PlanOptions& how) {
  const gemm::Plan plan = gemm::plan(problem, {}, limits, how);
  // WHY: `tessera tune` measured one plan of this kernel; another plan may be slower.
  const bool is_tuned = plan.tuned.is_taken();
  return {&plan.kernel(), plan.row().variant,
          is_tuned ? gemm::name_of(plan.offers.front().decision) : ""};
}

std::vector<KernelChoice> kernels_of(const ProblemOptions& options) {
  if (options.kernel == kBestKernel) {
    throw StatusError(Status::bad_argument(
        "kernel is 'best', but which one that is depends on the problem, and this command takes "
        "none; 'tessera bench --why -m M' names it"));
  }
  std::vector<KernelChoice> kernels = chosen_kernels(options);
  if (options.type.empty()) return kernels;
  const Types types = parse_types("--type", options.type);
  std::vector<KernelChoice> fitting = kernels_for(kernels, types, options);
  if (!fitting.empty()) return fitting;
  require(gemm::check_multiplied(types));
  throw StatusError(Status::bad_argument(fmt::format(
      "--type is {}, but {} computes {}; leave --type out or name another kernel", options.type,
      kernels.front().kernel->name, name_of(kernels.front().kernel->types))));
}

std::vector<KernelChoice> kernels_of(const ProblemOptions& options, const Shape& otherwise,
                                     const gemm::DeviceLimits& limits, const char* command) {
  if (options.kernel != kBestKernel) return kernels_of(options);
  return {best_kernel_for(one_problem_of(options, types_for_best(options), otherwise, command),
                          limits)};
}

std::vector<KernelsOfType> kernels_by_type(const ProblemOptions& options) {
  const std::vector<KernelChoice> kernels = kernels_of(options);
  if (!options.type.empty()) {
    return {{parse_types("--type", options.type), kernels}};
  }
  std::vector<KernelsOfType> all;
  for (const KernelChoice& choice : kernels) {
    const Types& types = choice.kernel->types;
    const auto known = std::ranges::find(all, types, &KernelsOfType::types);
    if (known == all.end()) {
      all.push_back({types, {choice}});
    } else {
      known->kernels.push_back(choice);
    }
  }
  return all;
}

std::string name_of(const KernelChoice& choice) {
  const bool is_default = variants_of(*choice.kernel).front() == choice.variant;
  const std::string decision = choice.decision.empty() ? "" : ":" + choice.decision;
  return choice.kernel->name + (is_default ? "" : "/" + choice.variant) + decision;
}

}  // namespace tessera::cli
