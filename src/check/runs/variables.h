// __device__ and __constant__ variables that a call sets by name.
#pragma once

#include <string>
#include <vector>

#include "check/runs/run.h"
#include "device/virtual/virtual_device.h"

namespace tessera::checking {

// Writes the values of CheckPlan::variables. Throws kBadArgument for a name that the code does not
// have, with those closest to it, and for a value of another size.
void set_variables(const CheckPlan& plan, const Placed& placed, const LoadedImage& image,
                   VirtualDevice& device);

// __constant__ variables that the kernel's text names, that have no initial value, and that the
// call does not set: a program fills these before the launch.
std::vector<std::string> zero_constants(const CheckPlan& plan);

}  // namespace tessera::checking
