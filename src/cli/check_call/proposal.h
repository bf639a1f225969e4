// The answer of `tessera check` to a call that cannot be run: a complete call that can be run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "check/propose/propose.h"

namespace tessera::cli {

struct ProposalRequest {
  std::string command;  // "tessera check FILE -DN=4"
  checking::Code code;
  checking::ReadOptions read;  // options that the compiler was given
  checking::CallWords given;   // the user's words, which every proposal keeps
  std::string said;            // why the user's call is not run
  std::function<checking::CheckPlan(const vgpu::KernelSignature&, const checking::CallWords&)>
      plan_of;
};

// The kernel's parameter names in its source; empty if the source is not available.
std::vector<std::string> parameter_names(const checking::Code& code,
                                         const checking::ReadOptions& read,
                                         const vgpu::KernelSignature& kernel);

// Writes calls to stderr that have been tried: one call with a table of parameters for one kernel,
// or one call for each of several kernels.
void show_proposal(const ProposalRequest& request,
                   const std::vector<vgpu::KernelSignature>& kernels,
                   const vgpu::KernelSignature& kernel);
void show_proposals(const ProposalRequest& request,
                    const std::vector<vgpu::KernelSignature>& kernels,
                    const std::vector<vgpu::KernelSignature>& named);

}  // namespace tessera::cli
