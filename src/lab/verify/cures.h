// Findings by what mends them: a missing barrier is found once for each pair of lines that it
// leaves unordered, and one barrier in the right place cures them all.
#pragma once

#include <string>
#include <vector>

#include "vgpu/observe/finding.h"

namespace tessera::lab {

struct Cure {
  std::vector<vgpu::Finding> findings;  // that it mends, as they came; never empty
  std::string what;                     // "put __syncthreads() between kernel.cu:24 and ..."
};

// Each finding once: what one __syncthreads() mends is one cure, everything else is one for itself,
// and comes first.
std::vector<Cure> by_cure(const std::vector<vgpu::Finding>& findings);

// The kernel's own line, with the line of the inlined function in parentheses:
// "src/ladder/03_shared_tile/kernel.cu:28 (inlined from src/ladder/shared/common.h:61)"; the PTX
// line where no source is known.
std::string own_line(const vgpu::FindingPlace& place);

}  // namespace tessera::lab
