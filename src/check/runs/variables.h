// Sets __device__ and __constant__ variables by name before a launch.
#pragma once

#include <string>
#include <vector>

#include "check/runs/run.h"
#include "device/virtual/virtual_device.h"

namespace tessera::checking {

// Writes the values of CheckPlan::variables. Throws kBadArgument if the code has no such variable
// (the message lists the closest names), or if the value has another size.
void set_variables(const CheckPlan& plan, const Placed& placed, const LoadedImage& image,
                   VirtualDevice& device);

// Returns the __constant__ variables that the kernel's text names, that have no initial value, and
// that the call does not set: a program fills these before the launch.
std::vector<std::string> zero_constants(const CheckPlan& plan);

}  // namespace tessera::checking
