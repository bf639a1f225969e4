// Linux promises memory that it does not have, and kills the process that uses it. This file checks
// first, so that a size that does not fit gives an error message and not a killed process.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::lab {

// Returns the bytes that this process can still use: the machine's available memory, or less if a
// control group limits the process.
std::uint64_t available_host_memory();

// Throws a kUnavailable that names `what` if more than the available memory is requested. `bytes`
// is a double, because products of sizes go beyond 64 bits.
void require_host_memory(double bytes, const std::string& what);

}  // namespace tessera::lab
