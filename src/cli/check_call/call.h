// The arguments of a call of `tessera check`, and the run that follows from them.
#pragma once

#include <string>
#include <vector>

#include "check/runs/run.h"
#include "cli/check_call/proposal.h"
#include "cli/terminal/output.h"

namespace tessera::cli {

struct CheckArguments {
  std::string file, kernel, grid, block, cluster, shared, seed, seeds, tolerance, threads, seconds;
  std::vector<std::string> variables, defines, includes;
  std::string standard;
  std::vector<std::string> arguments, arrays, outputs, expectations, nvcc_arguments, earlier;
  std::string gpu, lines;
  bool all = false, quiet = false, strict_ptx = false, cost = false, only_cost = false;
  Output report;

  // The command that was typed: "tessera explain FILE" has the arguments of check.
  const char* command() const { return only_cost ? "tessera explain" : "tessera check"; }
};

std::vector<checking::Argument> parse_arguments(const CheckArguments& options);

// The options for nvcc: the words of --nvcc-arg as they are, then -D, -I and -std.
std::vector<std::string> nvcc_arguments_of(const CheckArguments& options);

// Says which parts of the call are missing or do not fit the kernel; empty if all parts fit.
std::string problem_of(const CheckArguments& options, const vgpu::KernelSignature& kernel,
                       const std::vector<checking::Argument>& arguments);

// The array with this name. Throws kBadArgument, which names `option`, if there is no such array.
const checking::HostArray& array_named(const std::vector<checking::HostArray>& arrays,
                                       const std::string& name, const std::string& option);

checking::CheckPlan plan_of(const CheckArguments& options, checking::Code code,
                            const vgpu::KernelSignature& kernel,
                            std::vector<checking::Argument> arguments);

// A request for a call that can be run, for a user whose own call cannot be run.
ProposalRequest request_of(const CheckArguments& options, const checking::Code& code,
                           const std::vector<checking::Argument>& arguments);

}  // namespace tessera::cli
