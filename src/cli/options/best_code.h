// The target 'best' for machine code: the library's kernel for a problem, and the entry that the
// problem runs.
#pragma once

#include <string>
#include <vector>

#include "arch/gpu.h"
#include "cli/options/options.h"

namespace tessera::cli {

// The code that a caller named; for 'best', also its name, "simt_f32/256x128", its entry, and the
// reason in one sentence.
struct NamedCode {
  std::string target, entry;
  std::string why;
  bool is_best() const { return !why.empty(); }
};

// `entry` as given. For 'best' without one: the entry that the problem of the options, else
// column-major 4096 x 4096 x 4096, runs on such a GPU.
NamedCode named_code(const std::string& target, const std::string& entry,
                     const ProblemOptions& options, const arch::Gpu& gpu);

// Throws kBadArgument for options of a problem where no target is 'best': nothing would read them.
void require_best(const ProblemOptions& options, const std::vector<std::string>& targets);

}  // namespace tessera::cli
