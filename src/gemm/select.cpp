#include "gemm/select.h"

#include <algorithm>

#include "catalog/persistent.h"
#include "catalog/rates.h"

namespace tessera::gemm {

std::vector<Candidate> candidates(const Problem& problem, const PlanContext& context) {
  std::vector<Candidate> all;
  for (const catalog::Rate& rate : catalog::kH200Rates) {
    const Kernel& kernel = *choose_kernels(rate.kernel).front().kernel;
    if (kernel.type != problem.type) continue;
    const KernelRow& row = row_for(kernel, rate.variant, problem, {}, context);
    if (!supports(kernel, row, problem).ok()) continue;
    all.push_back({{&kernel, std::string(rate.variant)},
                   &row,
                   catalog::predicted_call(kernel, row, problem, context)});
  }
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.prediction.total() < b.prediction.total();
  });
  return all;
}

KernelChoice best_kernel(const Problem& problem, const PlanContext& context) {
  const std::vector<Candidate> all = candidates(problem, context);
  if (all.empty()) {
    throw StatusError(Status::unsupported("no kernel takes m = " + std::to_string(problem.m) +
                                          ", n = " + std::to_string(problem.n) + " in " +
                                          std::string(name_of(problem.type))));
  }
  return all.front().choice;
}

}  // namespace tessera::gemm
