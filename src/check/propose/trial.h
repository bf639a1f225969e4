// Tries one call of a kernel: whether it runs to its end, and how far it reaches into its arrays.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "check/runs/run.h"

namespace tessera::checking {

struct ArrayReach {
  std::uint64_t read = 0, written = 0;  // bytes from the begin to the end of the last access
};

struct Trial {
  bool finished = false;
  std::string fault;                        // if not finished, the fault: "out-of-bounds"
  std::string message;                      // if not finished: the fault's message
  std::map<std::string, ArrayReach> reach;  // by array
  std::uint64_t instructions = 0;           // warp instructions; 0 if the trial did not finish
};

// Runs the call without checks. The kernel is stopped after `most_instructions` warp instructions
// or `seconds`. Throws kBadArgument if the call is refused.
Trial try_call(const CheckPlan& plan, std::uint64_t most_instructions, double seconds);

}  // namespace tessera::checking
