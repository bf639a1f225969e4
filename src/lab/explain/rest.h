// Splits a predicted time into the longest resource and the components in addition to it.
#pragma once

#include <span>
#include <vector>

#include "lab/model/predict.h"

namespace tessera::lab {

// Returns the components by which these launches exceed the longest resource, the longest first.
// The components and `bound_ms` add up to the predicted time, but components below one percent are
// left out.
std::vector<UnitTime> rest_of(std::span<const LaunchPrediction> launches, double bound_ms);

}  // namespace tessera::lab
