// The report of `verify` on wrong kernels: for each kernel a few failing cases, the properties that
// these have in common, and what the virtual GPU's checks find in the smallest case.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lab/record/record.h"
#include "lab/verify/lattice.h"

namespace tessera::cli {

// A problem that was verified with a kernel, and the result.
struct VerifiedCase {
  lab::LatticeCase one;
  lab::Record record;
  bool failed() const { return record.verified == "failed"; }
};

// Runs a case once more, under checks, and returns the findings. Throws StatusError if the case
// cannot be run on that device.
using Recheck = std::function<std::vector<vgpu::Finding>(const VerifiedCase&)>;

// Empty if no case failed. `recheck` is called for the smallest failing case of each kernel, unless
// this case has findings already.
std::string failures_text(const std::vector<VerifiedCase>& cases, const Recheck& recheck);

}  // namespace tessera::cli
