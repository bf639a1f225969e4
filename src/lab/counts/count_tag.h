// Decides whether a count taken on the PTX may be called exact: only if the cubin has the same
// accesses by width and the same multiply-adds as the PTX, loop by loop.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "lab/counts/counts.h"

namespace tessera::lab {

// Returns one sentence, with both numbers, for each difference between the PTX and the cubin of the
// entries that ran. Empty if they agree.
std::vector<std::string> cubin_differences(const Kernel& kernel,
                                           const std::vector<std::string>& entries);

// Sets the tag of the counts: "approximate" if an instruction form that ran is approximate; else
// "model" if the cubin differs or only a sample ran; else "exact". Also stores the differences.
void set_tag(CountSummary& counts, const Kernel& kernel, const std::vector<std::string>& entries);

// Returns the tag of shared memory wavefronts. If the plain and the pair bank model disagree, the
// tag is not "exact" but "model": the pair model is calibrated on an H200 and not documented.
std::string wavefront_tag(const CountSummary& counts);
// Returns the tag of the footprint, which does not depend on how accesses are merged: "exact" if
// the whole grid ran.
std::string footprint_tag(const CountSummary& counts);

}  // namespace tessera::lab
