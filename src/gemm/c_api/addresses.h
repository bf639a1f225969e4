// Checks of the addresses of a call that are possible before anything is launched.
#pragma once

#include "gemm/c_api/objects.h"

namespace tessera::gemm::c_api {

// The memory (device or host) of the operands that a call reads or writes. Throws if kDetect finds
// operands in different memories, or if the handle cannot use their memory.
Memory memory_of(const tessera_handle_s& owner, const Asked& asked, const Operands& operands);

// If the handle checks addresses: throws unless these bytes are in memory of the handle's GPU.
void require_here(const tessera_handle_s& owner, const std::string& name, std::uint64_t first,
                  std::uint64_t bytes);
// Calls require_here() for each operand that the problem reads or writes.
void check_device_addresses(const tessera_handle_s& owner, const Problem& problem,
                            const Operands& operands);

}  // namespace tessera::gemm::c_api
