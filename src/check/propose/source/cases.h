// In which case of a switch a launch is, and under which conditions.
#pragma once

#include <string>
#include <vector>

#include "check/propose/source/host_source.h"

namespace tessera::checking {

// "case 64 of switch (size)", the outermost first; none outside of all.
std::vector<std::string> cases_around(const HostSource& source, const Token* place);

// Of each `if` around it, the innermost first; empty words where it is in an `else`.
std::vector<TokenRange> conditions_around(const HostSource& source, const Token* place);

}  // namespace tessera::checking
