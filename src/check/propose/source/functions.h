// Finds the functions that a source defines.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "check/propose/source/host_source.h"

namespace tessera::checking {

struct SourceFunctions {
  std::vector<SourceFunction> functions;
  std::set<std::string> device_names;  // names that device code uses
};

SourceFunctions find_functions(const SourceWords& source);

}  // namespace tessera::checking
