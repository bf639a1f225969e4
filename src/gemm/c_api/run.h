// Runs calls: on a GPU, on a GPU with copies from host memory, or on the CPU.
#pragma once

#include <span>

#include "gemm/c_api/objects.h"

namespace tessera::gemm::c_api {

// Implements tessera_gemm_with(): makes or finds the plan, and runs it.
void run_once(tessera_handle_s& owner, Asked asked, const PlanOptions& options,
              const tessera_arguments& arguments);

// Makes a plan, and prepares all launches that its runs may need.
std::shared_ptr<tessera_plan_s> make_plan(std::shared_ptr<tessera_handle_s> owner,
                                          const Asked& asked, const Options& options);
// Plans these problems, loads their kernels, and makes room on the stream for their workspaces.
void warm_up(const tessera_handle_s& owner, std::span<const Asked> all, const Options& options,
             void* stream);
void run_plan(const tessera_plan_s& plan, const tessera_arguments& arguments);
std::int64_t workspace_of(const tessera_plan_s& plan);

}  // namespace tessera::gemm::c_api
