// The amount of memory that the host can still provide.
#pragma once

#include <cstddef>

namespace tessera::vgpu {

// Returns the bytes that are free, or can be freed without swapping, within the limit of the
// process's control group; all physical memory if the host does not report this.
std::size_t available_host_memory();

}  // namespace tessera::vgpu
