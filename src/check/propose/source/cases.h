// In which case of a switch a launch is.
#pragma once

#include <string>
#include <vector>

#include "check/propose/source/host_source.h"

namespace tessera::checking {

// "case 64 of switch (size)", the outermost first; none outside of all.
std::vector<std::string> cases_around(const HostSource& source, const Token* place);

}  // namespace tessera::checking
