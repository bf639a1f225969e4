// Candidates from one launch of the source: as it is, and smaller. Those that are not read until
// that time of the processor are left out.
#pragma once

#include <vector>

#include "check/propose/candidates.h"

namespace tessera::checking {

std::vector<Candidate> read_launch(const HostSource& source, const LaunchSite& site,
                                   const KernelFacts& kernel, const Scope& scope, double until);

}  // namespace tessera::checking
