// A call with its arguments, on the GPU, by panels, or on the CPU.
#pragma once

#include <span>

#include "gemm/c_api/objects.h"

namespace tessera::gemm::c_api {

// The work of tessera_gemm_with(): makes a plan, or finds it.
void run_once(tessera_handle_s& owner, Asked asked, const PlanOptions& options,
              const tessera_arguments& arguments);

// Prepares all that the plan may run.
std::shared_ptr<tessera_plan_s> make_plan(std::shared_ptr<tessera_handle_s> owner,
                                          const Asked& asked, const Options& options);
// Plans and loads what these calls will, and makes room for their workspace on the stream.
void warm_up(const tessera_handle_s& owner, std::span<const Asked> all, const Options& options,
             void* stream);
void run_plan(const tessera_plan_s& plan, const tessera_arguments& arguments);
std::int64_t workspace_of(const tessera_plan_s& plan);

}  // namespace tessera::gemm::c_api
