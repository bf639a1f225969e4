// The answer of check to a call that cannot be run: a full call that can.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "check/propose/propose.h"

namespace tessera::cli {

struct ProposalRequest {
  std::string command;  // "tessera check FILE -DN=4"
  checking::Code code;
  checking::ReadOptions read;  // options that the compiler got
  checking::CallWords given;   // words that stay
  std::string said;            // why the call itself is not run
  std::function<checking::CheckPlan(const vgpu::KernelSignature&, const checking::CallWords&)>
      plan_of;
};

// The parameter names in the source of the kernel; empty if the source is not available.
std::vector<std::string> parameter_names(const checking::Code& code,
                                         const checking::ReadOptions& read,
                                         const vgpu::KernelSignature& kernel);

// Writes to stderr a call for the kernel with a table of its parameters; for several kernels only
// one call each. All proposed calls have been run.
void show_proposal(const ProposalRequest& request,
                   const std::vector<vgpu::KernelSignature>& kernels,
                   const vgpu::KernelSignature& kernel);
void show_proposals(const ProposalRequest& request,
                    const std::vector<vgpu::KernelSignature>& kernels,
                    const std::vector<vgpu::KernelSignature>& named);

}  // namespace tessera::cli
