// The options --grid, --block, --cluster and --shared of a launch, as typed.
#pragma once

#include <string>

#include "launch/launch.h"

namespace tessera::cli {

struct ShapeWords {
  std::string grid, block, cluster, shared;  // cluster and shared may be empty
};

// The shape of the launch. Throws kBadArgument with the option and the rule that it breaks.
LaunchShape parse_shape(const ShapeWords& words);

}  // namespace tessera::cli
