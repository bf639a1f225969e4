// Shared arrays that ask for more alignment than they get.
#pragma once

#include <string>
#include <vector>

namespace tessera::checking {

// One sentence for each array of this PTX that asks for more than 1024 bytes.
// HW: shared memory of a block begins at 1024, after what the system keeps, and ptxas for sm_90
// places arrays from there on whatever alignment they ask for (seen in its code: UMOV 0x400).
std::vector<std::string> loose_alignments(const std::string& ptx);

}  // namespace tessera::checking
