#include "gemm/steps/finish.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/divide.h"
#include "kernels/passes/finish_params.h"
#include "kernels/types/stored.h"

namespace tessera::gemm {
namespace {

using passes::FinishParams;

epilogue::Vector vector_of(VectorKind kind, const Problem& row_major) {
  if (kind == VectorKind::kNone) return {nullptr, 0, 0};
  return {nullptr, view_of(kind, row_major).rows, kind == VectorKind::kPerRow ? 1 : 0};
}

const HelperEntry& finish_entry_of(const Problem& p) {
  return finish_entry_for(facts_of(p.types.compute).sum, p.types.d, p.epilogue.writes_x());
}

// Patches a vector of the epilogue at byte `offset` of the parameters, if
// the problem has the vector.
void patch_vector(Step& step, std::size_t offset, VectorKind kind, const PlannedAddress& at) {
  if (kind == VectorKind::kNone) return;
  step.addresses.push_back({offset + offsetof(epilogue::Vector, values), at});
}

}  // namespace

bool is_fused(const Epilogue& epilogue) { return epilogue.scale == VectorKind::kNone; }

epilogue::Fused fused_of(const Problem& problem) {
  epilogue::Fused fused{};
  fused.bias = vector_of(problem.epilogue.bias, problem);
  fused.activation = problem.epilogue.activation;
  return fused;
}

void patch_fused(Step& step, std::size_t offset, const Subproblem& product) {
  patch_vector(step, offset + offsetof(epilogue::Fused, bias), product.problem.epilogue.bias,
               product[OperandId::kBias]);
}

Status check_finish(const Problem& problem, bool sums_hold_c) {
  try {
    finish_entry_of(problem);
  } catch (const StatusError& error) {
    return error.status();
  }
  const ElementType c = problem.types.c;
  if (sums_hold_c || !reads_c(problem) || (types::find_stored(c) && is_float(c))) return {};
  return Status::unsupported("type of C is " + std::string(name_of(c)) +
                             ", but an epilogue adds a C in f64, f32, f16 or bf16");
}

Step finish_step(const Subproblem& given, const Sums& sums, const DeviceLimits& limits) {
  const Subproblem product = row_major(given);
  const Problem& problem = product.problem;
  const Epilogue& of = problem.epilogue;
  FinishParams params{};
  params.gemm = params_of(problem);
  params.gemm.k = 0;
  params.gemm.alpha = 0;
  if (sums.are_in_d) params.gemm.beta = 0;
  params.batch = batch_params(problem, 1);
  params.finish = {vector_of(of.scale, problem), vector_of(of.bias, problem), of.activation};
  params.sums_row = sums.row;
  params.sums_product = sums.product;
  const bool adds_c = params.gemm.beta != 0;
  if (adds_c) params.type_of_c = problem.types.c;
  const std::int64_t fours = params.gemm.m * ceil_div(params.gemm.n, 4) * problem.batch.count;
  const std::int64_t most = std::int64_t{passes::kFinishCtasPerSm} * limits.sms;
  params.x_row = problem.ldx;
  params.x_product = problem.batch.stride_x;
  Step step = step_of(Pass::kFinish, finish_entry_of(problem).entry,
                      {.grid = std::min(ceil_div(fours, passes::kFinishThreads), most),
                       .block = passes::kFinishThreads},
                      params);
  constexpr std::size_t kGemm = offsetof(FinishParams, gemm);
  step.addresses.push_back(
      {kGemm + offsetof(GemmParams, d), product[OperandId::kD], Use::kWritten});
  if (adds_c) {
    step.addresses.push_back({kGemm + offsetof(GemmParams, c), product[OperandId::kC]});
    step.scales.push_back({kGemm + offsetof(GemmParams, beta), Scale::kBeta});
  }
  if (!sums.are_in_d) step.addresses.push_back({offsetof(FinishParams, sums), sums.at});
  const std::size_t at = offsetof(FinishParams, finish);
  patch_vector(step, at + offsetof(epilogue::Finish, scale), of.scale, product[OperandId::kScale]);
  patch_vector(step, at + offsetof(epilogue::Finish, bias), of.bias, product[OperandId::kBias]);
  if (of.writes_x()) {
    step.addresses.push_back({offsetof(FinishParams, x), product[OperandId::kX], Use::kWritten});
  }
  return step;
}

}  // namespace tessera::gemm
