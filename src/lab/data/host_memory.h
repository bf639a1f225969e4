// Linux promises memory that it does not have, and kills the process that uses it. This file checks
// first, so that a size that does not fit gives an error message and not a killed process.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::lab {

// Bytes that this process can still use: the machine's, or less when a limit is set for it.
std::uint64_t available_host_memory();

// Throws kUnavailable naming `what` when more than that is requested. A double, because products of
// sizes go beyond 64 bits.
void require_host_memory(double bytes, const std::string& what);

}  // namespace tessera::lab
