// The target 'best' of commands about machine code: the kernel that the library chooses for a
// problem, and the entry that the plan runs.
#pragma once

#include <string>
#include <vector>

#include "arch/gpu.h"
#include "cli/options/options.h"

namespace tessera::cli {

// The code that the user named. For 'best', `target` is the chosen kernel ("simt_f32/256x128"),
// `entry` is the entry that the plan runs, and `why` names both in a sentence; else `why` is empty.
struct NamedCode {
  std::string target, entry;
  std::string why;
  bool is_best() const { return !why.empty(); }
};

// `target` and `entry` as given, unless `target` is 'best'. 'best' means the library's choice on
// `gpu` for the problem of the options (default: column-major 4096 x 4096 x 4096).
NamedCode named_code(const std::string& target, const std::string& entry,
                     const ProblemOptions& options, const arch::Gpu& gpu);

// Throws kBadArgument for options of a problem if no target is 'best', because they have no effect.
void require_best(const ProblemOptions& options, const std::vector<std::string>& targets);

}  // namespace tessera::cli
