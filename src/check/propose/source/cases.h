// Finds the case of a switch that contains a launch, and the conditions around the launch.
#pragma once

#include <string>
#include <vector>

#include "check/propose/source/host_source.h"

namespace tessera::checking {

// Returns the cases around `place`, "case 64 of switch (size)", the outermost first; nothing
// outside of all switches.
std::vector<std::string> cases_around(const HostSource& source, const Token* place);

// Returns the condition of each `if` around `place`, innermost first; empty words for an `else`.
std::vector<TokenRange> conditions_around(const HostSource& source, const Token* place);

}  // namespace tessera::checking
