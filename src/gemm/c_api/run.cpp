#include "gemm/c_api/run.h"

#include <algorithm>

#include "gemm/c_api/addresses.h"
#include "gemm/c_api/side.h"
#include "gemm/host/batch.h"
#include "gemm/host/cpu.h"
#include "gemm/host/on_gpu.h"
#include "gemm/rewrites/fold.h"

namespace tessera::gemm::c_api {
namespace {

constexpr std::size_t kMostBytes = kAnyWorkspace;

// The rules of a problem whose operands are in host memory; device memory's are plan()'s.
void require_host(const tessera_handle_s& owner, const Problem& problem) {
  require(check(problem));
  choose_side(owner, problem);
}

void require_addresses(const Problem& p, const Operands& at) {
  const auto need = [](bool is_used, std::uint64_t address, const char* name, const char* why) {
    if (is_used && address == 0) {
      throw refused("address of " + std::string(name) + " is 0, but " + why);
    }
  };
  need(reads_ab(p), at.a, "A", "A is read");
  need(reads_ab(p), at.b, "B", "B is read");
  need(p.beta != 0, at.c, "C", "C is read where beta is not 0");
  need(true, at.d, "D", "D is written");
  need(p.epilogue.scale != VectorKind::kNone, at.scale, "scale", "the epilogue has a scale");
  need(p.epilogue.bias != VectorKind::kNone, at.bias, "bias", "the epilogue has a bias");
  const bool is_list = p.batch.kind == BatchKind::kPointers;
  const auto aligned = [](bool is_used, std::uint64_t address, const char* name, int bytes) {
    if (!is_used || address % static_cast<std::uint64_t>(bytes) == 0) return;
    throw refused("address of " + std::string(name) + " is " + std::to_string(address) +
                  ", but must be a multiple of its element's bytes, " + std::to_string(bytes));
  };
  const auto bytes = [&](ElementType type) { return is_list ? int{sizeof at.a} : size_of(type); };
  aligned(reads_ab(p), at.a, "A", bytes(p.types.a));
  aligned(reads_ab(p), at.b, "B", bytes(p.types.b));
  aligned(reads_c(p), at.c, "C", bytes(p.types.c));
  aligned(true, at.d, "D", bytes(p.types.d));
  const Epilogue& of = p.epilogue;
  aligned(of.scale != VectorKind::kNone, at.scale, "scale", size_of(scale_type(p.types)));
  aligned(of.bias != VectorKind::kNone, at.bias, "bias", size_of(bias_type(p.types)));
}

// Of a batch of pointers in host memory, whose lists can be read here.
void require_pointers(const Problem& problem, const Operands& lists) {
  for (std::int64_t i = 0; i < problem.batch.count; ++i) {
    const auto entry = [&](std::uint64_t list) {
      return list == 0 ? 0 : reinterpret_cast<const std::uint64_t*>(list)[i];
    };
    const Operands at{entry(lists.a), entry(lists.b), entry(lists.c),
                      entry(lists.d), lists.scale,    lists.bias};
    try {
      require_addresses(host::product_of(problem), at);
    } catch (const StatusError& error) {
      throw refused("product " + std::to_string(i) + " of the batch: " + error.what());
    }
  }
}

// Address 0 for what is not read, so that nobody looks at it: a list of pointers may be none.
Operands without_unread(const Problem& p, const Operands& at) {
  return {reads_ab(p) ? at.a : 0,
          reads_ab(p) ? at.b : 0,
          p.beta != 0 ? at.c : 0,
          at.d,
          at.scale,
          at.bias};
}

// Work that the caller gave the stream before may still write operands.
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
  require_host(owner, problem);
  if (problem.m == 0 || problem.n == 0 || problem.batch.count == 0) return;
  const Operands operands = without_unread(problem, given);
  require_addresses(problem, operands);
  check_ranges(problem, operands, 0, 0);
  if (problem.batch.kind == BatchKind::kPointers) {
    require_pointers(problem, operands);
  } else {
    require(check_overlap(problem, operands));
  }
  const Problem one = host_problem(owner, problem);
  if (choose_side(owner, one).is_gpu && owner.can_use_gpu()) {
    return multiply_on_gpu(owner, one, operands, options, stream);
  }
  wait_for(owner, stream);
  host::multiply_on_cpu(one, operands);
}

// Launches a prepared plan with the caller's workspace, or one that the handle lends.
void run_in_device_memory(tessera_handle_s& owner, const Prepared& prepared, const Problem& problem,
                          const tessera_arguments& in, bool may_lend) {
  Arguments arguments{operands_of(in), in.alpha, in.beta,
                      reinterpret_cast<DeviceAddress>(in.workspace),
                      static_cast<std::int64_t>(std::min(in.workspace_bytes, kMostBytes))};
  const std::int64_t bytes = prepared.plan().workspace_bytes();
  if (prepared.launches() > 0)
    check_ranges(problem, arguments.operands, arguments.workspace, bytes);
  if (owner.place.checks_addresses && prepared.launches() > 0) {
    check_device_addresses(owner, problem, arguments.operands);
  }
  if (bytes == 0 || in.workspace || !may_lend) return execute(prepared, arguments, in.stream);
  // WHY: before a workspace is made. A call that is refused does nothing.
  arguments.workspace = kWorkspaceAlignment;
  arguments.workspace_bytes = bytes;
  require(gemm::check(prepared.plan(), arguments));
  const LentWorkspace lent = owner.gpu().gemm.workspaces().lend(bytes, in.stream);
  arguments.workspace = lent.address();
  execute(prepared, arguments, in.stream);
}

Problem with_scalars(Problem problem, const tessera_arguments& in) {
  problem.alpha = in.alpha;
  problem.beta = in.beta;
  return with_default_ld(problem);
}

}  // namespace

void run_once(tessera_handle_s& owner, Asked asked, const PlanOptions& wanted,
              const tessera_arguments& in) {
  const PlanOptions options = within_memory(owner, wanted);
  asked.problem = with_scalars(asked.problem, in);
  const Operands operands = operands_of(in);
  if (asked.memory != Memory::kDevice) require(check(asked.problem));
  if (memory_of(owner, asked, operands) == Memory::kHost) {
    return run_in_host_memory(owner, asked.problem, operands, options, in.stream);
  }
  const auto prepared = owner.gpu().gemm.prepared(asked.problem, alignment_of(operands), options);
  run_in_device_memory(owner, *prepared, asked.problem, in, true);
}

std::shared_ptr<tessera_plan_s> make_plan(std::shared_ptr<tessera_handle_s> owner,
                                          const Asked& asked, const Options& options) {
  auto made = std::make_shared<tessera_plan_s>();
  made->owner = std::move(owner);
  made->asked = asked;
  made->asked.problem = with_default_ld(asked.problem);
  made->options = within_memory(*made->owner, options.plan);
  // WHY: memory is checked with each run's addresses; no address is null here.
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

void run_plan(const tessera_plan_s& plan, const tessera_arguments& in) {
  const Problem problem = [&] {
    Problem copy = plan.asked.problem;
    copy.alpha = in.alpha;
    copy.beta = in.beta;
    return copy;
  }();
  const Asked asked{problem, plan.asked.memory};
  if (memory_of(*plan.owner, asked, operands_of(in)) == Memory::kHost) {
    return run_in_host_memory(*plan.owner, problem, operands_of(in), plan.options, in.stream);
  }
  const auto& prepared = plan.prepared[tessera_plan_s::place_of(in.alpha, in.beta)];
  run_in_device_memory(*plan.owner, *prepared, problem, in, false);
}

std::int64_t workspace_of(const tessera_plan_s& plan) {
  std::int64_t most = 0;
  for (const auto& one : plan.prepared) {
    if (one) most = std::max(most, one->plan().workspace_bytes());
  }
  return most;
}

}  // namespace tessera::gemm::c_api
