// Linux promises memory that it does not have and ends the process that uses it. This file asks
// first, so that a size whose memory cannot be had is a sentence and not a kill.
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
