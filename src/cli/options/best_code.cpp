#include "cli/options/best_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "cli/options/gpu_option.h"
#include "gemm/plan/plan.h"

namespace tessera::cli {

NamedCode named_code(const std::string& target, const std::string& entry,
                     const ProblemOptions& options, const arch::Gpu& gpu) {
  if (target != kBestKernel) return {target, entry, ""};
  const Problem problem = one_problem_of(options, types_for_best(options), kGpuShape, "sass");
  const gemm::Plan plan = gemm::plan(problem, {}, limits_of(gpu), {});
  const std::string name = plan.kernel().name + "/" + plan.row().variant;
  return {name, entry.empty() ? plan.row().entry : entry,
          fmt::format("best: {}, entry {}, is what the library takes for {} x {} x {}, {}, {}, {} "
                      "on {}",
                      name, plan.row().entry, problem.m, problem.n, problem.k, layout_of(problem),
                      name_of(problem.order), name_of(problem.types), gpu.name)};
}

void require_best(const ProblemOptions& options, const std::vector<std::string>& targets) {
  if (std::ranges::find(targets, kBestKernel) != targets.end()) return;
  const std::pair<const char*, const std::string*> given[] = {{"-m", &options.m},
                                                              {"-n", &options.n},
                                                              {"-k", &options.k},
                                                              {"--shapes", &options.shapes},
                                                              {"--layout", &options.layout},
                                                              {"--order", &options.order},
                                                              {"--lda", &options.lda},
                                                              {"--ldb", &options.ldb},
                                                              {"--ldc", &options.ldc},
                                                              {"--ldd", &options.ldd},
                                                              {"--type", &options.type}};
  for (const auto& [option, value] : given) {
    if (value->empty()) continue;
    throw StatusError(Status::bad_argument(
        fmt::format("{} is '{}', but only 'best' is looked up for a problem; --entry names an "
                    "entry of any other kernel",
                    option, *value)));
  }
}

}  // namespace tessera::cli
