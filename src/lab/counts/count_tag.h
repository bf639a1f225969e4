// Decides whether a count taken on the PTX may be called exact: only if the cubin has the same
// accesses by width and the same multiply-adds as the PTX, loop by loop.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "lab/counts/counts.h"

namespace tessera::lab {

// One sentence per difference between the PTX and the cubin of the kernel's entries that ran; both
// numbers are in it. Empty if the two agree.
std::vector<std::string> cubin_differences(const Kernel& kernel,
                                           const std::vector<std::string>& entries);

// Sets the tag: "approximate" if an executed form is approximate; else "model" if the cubin differs
// or only a sample of the grid ran; else "exact". Also stores the differences.
void set_tag(CountSummary& counts, const Kernel& kernel, const std::vector<std::string>& entries);

// The tag of the wavefronts of shared memory: that of the counts where both bank models agree, else
// "model": the merging of lanes in pairs is calibrated on an H200 and not documented.
std::string wavefront_tag(const CountSummary& counts);
// The tag of the footprint, which no merging of accesses changes: "exact" of a whole grid.
std::string footprint_tag(const CountSummary& counts);

}  // namespace tessera::lab
