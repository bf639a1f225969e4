// The parts of a predicted time in addition to the longest resource.
#pragma once

#include <span>
#include <vector>

#include "lab/model/predict.h"

namespace tessera::lab {

// The times by which these launches exceed the longest resource, the longest part first: with
// `bound_ms` the parts add up to the predicted time, except for parts below one percent, which are
// left out.
std::vector<UnitTime> rest_of(std::span<const LaunchPrediction> launches, double bound_ms);

}  // namespace tessera::lab
