#include "gemm/c_api/run.h"

#include <algorithm>

#include "gemm/c_api/addresses.h"
#include "gemm/c_api/packed.h"
#include "gemm/c_api/side.h"
#include "gemm/host/batch.h"
#include "gemm/host/cpu.h"
#include "gemm/host/on_gpu.h"
#include "gemm/rewrites/fold.h"

namespace tessera::gemm::c_api {
namespace {

constexpr std::size_t kMostBytes = kAnyWorkspace;

// Checks a problem whose operands are in host memory, and returns the side that multiplies it. For
// operands in device memory, plan() checks the problem.
ChosenSide require_host(const tessera_handle_s& owner, const Problem& problem) {
  require(check(problem));
  return choose_side(owner, problem);
}

// Checks every address in the lists of a batch of pointers. The lists are in host memory.
void require_pointers(const Problem& problem, const Operands& lists) {
  for (std::int64_t i = 0; i < problem.batch.count; ++i) {
    const Status status =
        check_addresses(host::product_of(problem), host::operands_at(problem, lists, i));
    if (!status.ok()) {
      throw refused("product " + std::to_string(i) + " of the batch: " + status.message);
    }
  }
}

// Waits for the stream, because earlier work of the caller may still write the operands.
void wait_for(const tessera_handle_s& owner, void* stream) {
  if (!owner.has_gpu() || (!stream && !owner.has_made_gpu())) return;
  Device& device = *owner.gpu().device;
  host::require_no_capture(device, stream);
  device.synchronize(stream);
}

void multiply_on_gpu(const tessera_handle_s& owner, const Problem& problem,
                     const Operands& operands, const PlanOptions& options, void* stream) {
  Gpu& gpu = owner.gpu();
  host::Staging& staging = gpu.staging();
  const std::lock_guard lock(staging.mutex);
  host::multiply_from_host(gpu.gemm, staging, problem, operands, options, stream);
}

void run_in_host_memory(tessera_handle_s& owner, const Problem& problem, const Operands& given,
                        const PlanOptions& options, void* stream) {
  const ChosenSide side = require_host(owner, problem);
  if (problem.m == 0 || problem.n == 0 || problem.batch.count == 0) return;
  const Operands operands = used_operands(problem, given);
  require(check_addresses(problem, operands));
  require(check_ranges(problem, operands));
  if (problem.batch.kind == BatchKind::kPointers) {
    require_pointers(problem, operands);
  } else {
    require(check_overlap(problem, operands));
  }
  const bool may_fold = problem.batch.kind != BatchKind::kNone;
  const Problem one = may_fold ? host_problem(owner, problem) : problem;
  const bool is_gpu = may_fold ? choose_side(owner, one).is_gpu : side.is_gpu;
  if (is_gpu && owner.can_use_gpu()) {
    return multiply_on_gpu(owner, one, operands, options, stream);
  }
  wait_for(owner, stream);
  host::multiply_on_cpu(one, operands);
}

// Launches a prepared plan with the caller's workspace or, if `may_lend`,
// one that the handle lends.
void run_in_device_memory(tessera_handle_s& owner, const Prepared& prepared, const Problem& problem,
                          const tessera_arguments& in, const PackedArguments& packed,
                          bool may_lend) {
  const Arguments arguments{operands_of(in),
                            in.alpha,
                            in.beta,
                            reinterpret_cast<DeviceAddress>(in.workspace),
                            static_cast<std::int64_t>(std::min(in.workspace_bytes, kMostBytes)),
                            packed.a,
                            packed.b};
  if (owner.place.checks_addresses && prepared.launches() > 0) {
    require(check_operands(prepared.plan(), arguments));
    check_device_addresses(owner, problem, arguments.operands);
  }
  if (!may_lend) return execute(prepared, arguments, in.stream);
  run(owner.gpu().gemm, prepared, arguments, in.stream);
}

Problem with_scalars(Problem problem, const tessera_arguments& in) {
  problem.alpha = in.alpha;
  problem.beta = in.beta;
  return with_default_ld(problem);
}

}  // namespace

void run_once(tessera_handle_s& owner, Asked asked, const PlanOptions& wanted,
              const tessera_arguments& in) {
  PlanOptions options = within_memory(owner, wanted);
  asked.problem = with_scalars(asked.problem, in);
  const Operands operands = operands_of(in);
  if (asked.memory != Memory::kDevice) require(check(asked.problem));
  const PackedArguments packed = packed_of(owner, in, asked.problem);
  if (memory_of(owner, asked, operands) == Memory::kHost) {
    require_none(packed);
    return run_in_host_memory(owner, asked.problem, operands, options, in.stream);
  }
  options.packed = options.packed | packed.operands();
  const auto prepared = owner.gpu().gemm.prepared(asked.problem, alignment_of(operands), options);
  run_in_device_memory(owner, *prepared, asked.problem, in, packed, true);
}

std::shared_ptr<tessera_plan_s> make_plan(std::shared_ptr<tessera_handle_s> owner,
                                          const Asked& asked, const Options& options) {
  auto made = std::make_shared<tessera_plan_s>();
  made->owner = std::move(owner);
  made->asked = asked;
  made->asked.problem = with_default_ld(asked.problem);
  made->options = within_memory(*made->owner, options.plan);
  // WHY check only the problem: addresses are not known before a run, which checks their memory.
  if (asked.memory != Memory::kDevice) require(check(made->asked.problem));
  if (!made->owner->has_gpu()) {
    memory_of(*made->owner, asked, {});
    require_host(*made->owner, made->asked.problem);
    return made;
  }
  if (asked.memory == Memory::kHost) {
    require_host(*made->owner, made->asked.problem);
    return made;
  }
  Problem one = made->asked.problem;
  for (const double alpha : {0.0, 1.0}) {
    for (const double beta : {0.0, 1.0}) {
      one.alpha = alpha;
      one.beta = beta;
      made->prepared[tessera_plan_s::place_of(alpha, beta)] =
          made->owner->gpu().gemm.prepared(one, options.alignment, made->options);
    }
  }
  return made;
}

void warm_up(const tessera_handle_s& owner, std::span<const Asked> all, const Options& options,
             void* stream) {
  std::int64_t bytes = 0;
  for (const Asked& asked : all) {
    if (asked.memory == Memory::kHost || !owner.has_gpu()) {
      throw refused(
          "memory of a problem is that of the host, but code is loaded for operands in "
          "the memory of a GPU alone");
    }
    Problem one = with_default_ld(asked.problem);
    for (one.beta = 0; one.beta <= 1; ++one.beta) {
      const auto prepared =
          owner.gpu().gemm.prepared(one, options.alignment, within_memory(owner, options.plan));
      bytes = std::max(bytes, prepared->plan().workspace_bytes());
    }
  }
  if (bytes > 0) owner.gpu().gemm.workspaces().lend(bytes, stream);
}

void run_plan(const tessera_plan_s& plan, const tessera_arguments& in) {
  const Problem problem = [&] {
    Problem copy = plan.asked.problem;
    copy.alpha = in.alpha;
    copy.beta = in.beta;
    return copy;
  }();
  const Asked asked{problem, plan.asked.memory};
  const PackedArguments packed = packed_of(*plan.owner, in, problem);
  if (memory_of(*plan.owner, asked, operands_of(in)) == Memory::kHost) {
    require_none(packed);
    return run_in_host_memory(*plan.owner, problem, operands_of(in), plan.options, in.stream);
  }
  const auto& prepared = plan.prepared[tessera_plan_s::place_of(in.alpha, in.beta)];
  run_in_device_memory(*plan.owner, *prepared, problem, in, packed, false);
}

std::int64_t workspace_of(const tessera_plan_s& plan) {
  std::int64_t most = 0;
  for (const auto& one : plan.prepared) {
    if (one) most = std::max(most, one->plan().workspace_bytes());
  }
  return most;
}

}  // namespace tessera::gemm::c_api
