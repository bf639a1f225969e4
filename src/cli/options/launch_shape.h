// --grid, --block, --cluster and --shared of a launch, as typed.
#pragma once

#include <string>

#include "launch/launch.h"

namespace tessera::cli {

struct ShapeWords {
  std::string grid, block, cluster, shared;  // the last two may be empty
};

// Throws kBadArgument naming the option and the rule.
LaunchShape parse_shape(const ShapeWords& words);

}  // namespace tessera::cli
