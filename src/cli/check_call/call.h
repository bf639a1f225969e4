// A call of check as typed, and the run that follows from it.
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

  // "tessera explain FILE" has these arguments, too.
  const char* command() const { return only_cost ? "tessera explain" : "tessera check"; }
};

std::vector<checking::Argument> parse_arguments(const CheckArguments& options);

// The options for nvcc: those of --nvcc-arg as they are, and those that most calls need.
std::vector<std::string> nvcc_arguments_of(const CheckArguments& options);

// The parts of the call that are missing or do not fit; empty: none.
std::string problem_of(const CheckArguments& options, const vgpu::KernelSignature& kernel,
                       const std::vector<checking::Argument>& arguments);

// The array of this name; throws kBadArgument naming the option.
const checking::HostArray& array_named(const std::vector<checking::HostArray>& arrays,
                                       const std::string& name, const std::string& option);

checking::CheckPlan plan_of(const CheckArguments& options, checking::Code code,
                            const vgpu::KernelSignature& kernel,
                            std::vector<checking::Argument> arguments);

// For calls that cannot be run as they are: the proposer of one that can.
ProposalRequest request_of(const CheckArguments& options, const checking::Code& code,
                           const std::vector<checking::Argument>& arguments);

}  // namespace tessera::cli
