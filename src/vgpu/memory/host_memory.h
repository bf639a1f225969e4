// How much memory the host can still give.
#pragma once

#include <cstddef>

namespace tessera::vgpu {

// What is free now or can be freed without swapping, within the limits of the process's group;
// all physical memory where the host does not say.
std::size_t available_host_memory();

}  // namespace tessera::vgpu
