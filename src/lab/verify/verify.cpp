#include "lab/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "gemm/plan/plan.h"
#include "lab/data/host_memory.h"
#include "lab/data/integers.h"
#include "lab/verify/pass.h"

namespace tessera::lab {
namespace {

// Checks that the host has memory for the matrices alone: A, B and C for each pass, D before and
// after. The check comes first, because otherwise matrices would be filled for minutes before the
// last one is refused.
void require_memory(const Problem& problem, int passes) {
  const Batch& batch = problem.batch;
  const auto bytes = [&](const MatrixView& view, ElementType type, std::int64_t stride) {
    const double span = static_cast<double>(view.span());
    const double more = std::max(static_cast<double>(batch.count) - 1, 0.0);
    const double elements = batch.kind == BatchKind::kStrided
                                ? more * static_cast<double>(stride) + span
                                : (more + 1) * span;
    return elements * size_of(type);
  };
  const Types& types = problem.types;
  const double inputs = bytes(view_a(problem), types.a, batch.stride_a) +
                        bytes(view_b(problem), types.b, batch.stride_b) +
                        bytes(view_c(problem), types.c, batch.stride_c);
  require_host_memory(passes * inputs + 2 * bytes(view_d(problem), types.d, batch.stride_d),
                      fmt::format("a {} x {} x {} product", problem.m, problem.n, problem.k));
}

}  // namespace

std::string_view name_of(Verified verified) {
  if (verified == Verified::kFull) return "full";
  return verified == Verified::kSampled ? "sampled" : "failed";
}

VerifyCase::VerifyCase(const Problem& problem, const VerifyOptions& options)
    : problem_(with_default_ld(problem)), options_(options) {
  require(tessera::check(problem_));
  if (options_.in_place && problem_.ldc != problem_.ldd) {
    throw StatusError(Status::bad_argument("ldd is " + std::to_string(problem_.ldd) +
                                           ", but must equal ldc, " + std::to_string(problem_.ldc) +
                                           ", when D is C"));
  }
  if (options_.in_place && problem_.types.c != problem_.types.d) {
    throw StatusError(Status::bad_argument(
        fmt::format("C is {} and D is {}, but both must be of one type when D is C",
                    name_of(problem_.types.c), name_of(problem_.types.d))));
  }
  const Batch& batch = problem_.batch;
  const bool is_batch = batch.kind != BatchKind::kNone;
  if (options_.in_place && batch.kind == BatchKind::kStrided && batch.stride_c != batch.stride_d) {
    throw StatusError(
        Status::bad_argument(fmt::format("stride_d is {}, but must equal stride_c, {}, when D is C",
                                         batch.stride_d, batch.stride_c)));
  }
  require_memory(problem_, options_.integers ? 2 : 1);
  const auto make_pass = is_batch ? make_batch_pass : make_single_pass;
  if (options_.integers) integers_ = make_pass(with_exact_scales(problem_), options_, true);
  real_ = make_pass(problem_, options_, false);
}

VerifyCase::~VerifyCase() = default;

VerifyResult VerifyCase::check(Device& device, const KernelChoice& choice) const {
  return check(device, choice, options_.plan);
}

VerifyResult VerifyCase::check(Device& device, const KernelChoice& choice,
                               gemm::PlanOptions options) const {
  // WHY before memory is filled: a kernel that does not take the problem, or that the device cannot
  // load, is reported first.
  options.kernel = choice;
  const gemm::Plan plan =
      gemm::plan(problem_, gemm::Alignment{}, gemm::limits_of(device.info()), options);
  VerifyResult result;
  result.row = &plan.row();
  result.config = choice.variant;
  result.image = device.load(image_of(*choice.kernel, plan.row().entry));
  result.plan = plan.offers.front().name();
  result.workspace_bytes = plan.workspace_bytes();
  result.reference = real_->reference().method;
  if (!integers_) {
    result.integers = "none";
  } else if (integers_->by_rows()) {
    result.integers = "every row, modulo 2^64";
  } else {
    result.integers = integers_->reference().sampled ? "sampled" : "full";
  }
  result.verified = real_->reference().sampled ? Verified::kSampled : Verified::kFull;
  if (integers_) integers_->run(device, options, result);
  if (result.ok()) real_->run(device, options, result);
  for (const LaunchCounts& launch : result.counts) result.host_seconds += launch.host_seconds;
  return result;
}

VerifyResult verify(Device& device, const KernelChoice& choice, const Problem& problem,
                    const VerifyOptions& options) {
  return VerifyCase(problem, options).check(device, choice);
}

}  // namespace tessera::lab
