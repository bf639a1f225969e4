// Returns the candidates from one launch of the source: unchanged, and smaller. Candidates that
// cannot be read within the limit of processor time are left out.
#pragma once

#include <vector>

#include "check/propose/candidates.h"

namespace tessera::checking {

std::vector<Candidate> read_launch(const HostSource& source, const LaunchSite& site,
                                   const KernelFacts& kernel, const Scope& scope, double until);

}  // namespace tessera::checking
