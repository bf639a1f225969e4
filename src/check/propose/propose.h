// Proposes a full call of a kernel if the user gave no call: the call is read from the source,
// tried, and shown only if it runs to its end. Code outside of this folder includes this header
// only.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "check/propose/candidates.h"
#include "check/propose/source/cases.h"
#include "check/runs/run.h"

namespace tessera::checking {

// The texts of a call, as a user types them. An empty field was not given.
struct CallWords {
  std::string grid, block, cluster, shared;
  std::vector<std::string> arguments, arrays;  // "n=i32:64"
  std::vector<std::string> assumed;            // assumptions: "n = 64", "block 256"
};

struct Proposal {
  CallWords call;
  Candidate from;
  std::vector<std::string> found;     // checks that have a finding
  std::vector<std::string> overruns;  // sentences on arrays that the program allocates too short
  bool is_fault = false;              // `call` is the program's own launch, which ends in a fault
  bool is_short = false;              // arrays of the call are as short, so it is out of bounds
};

struct Proposed {
  std::optional<Proposal> call;
  bool reads_launch = false;  // a launch of the kernel was read from its source
  int tried = 0;
  std::string first;               // how the first failed call ended
  std::vector<Candidate> refused;  // the program's own launches that no GPU starts
  std::string given;               // an error in the user's values: no other call was tried
};

// `plan_of` turns a call into a plan to run, as if a user had typed it.
Proposed propose(const HostSource& source, const KernelFacts& kernel, const CallWords& given,
                 const std::function<CheckPlan(const CallWords&)>& plan_of);

}  // namespace tessera::checking
