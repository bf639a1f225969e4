// Finds shared arrays that request a larger alignment than they get.
#pragma once

#include <string>
#include <vector>

namespace tessera::checking {

// Returns one sentence for each array of this PTX that requests an alignment above 1024 bytes. HW:
// a block's shared memory begins at 1024, after bytes that the system reserves, and ptxas for sm_90
// places arrays from 1024 on, whatever alignment they request (seen in its code: UMOV 0x400).
std::vector<std::string> loose_alignments(const std::string& ptx);

}  // namespace tessera::checking
