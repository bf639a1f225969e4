// Checks of the addresses of a call that are possible before anything is launched.
#pragma once

#include "gemm/c_api/objects.h"

namespace tessera::gemm::c_api {

// Where the operands that are read or written are. Throws where kDetect finds them in different
// memories, or where the handle cannot use that memory.
Memory memory_of(const tessera_handle_s& owner, const Asked& asked, const Operands& operands);

// For a handle that checks addresses: throws unless all these bytes are in memory of its GPU.
void require_here(const tessera_handle_s& owner, const std::string& name, std::uint64_t first,
                  std::uint64_t bytes);
// The same check for each operand.
void check_device_addresses(const tessera_handle_s& owner, const Problem& problem,
                            const Operands& operands);

}  // namespace tessera::gemm::c_api
