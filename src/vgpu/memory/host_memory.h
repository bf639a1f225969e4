// How much memory the host can still give.
#pragma once

#include <cstddef>

namespace tessera::vgpu {

// The memory that is free now or can be freed without swapping, within the limits of the process's
// group; all physical memory if the host does not report it.
std::size_t available_host_memory();

}  // namespace tessera::vgpu
