// Groups findings by the change that fixes them. A missing barrier is found once for each pair of
// lines that it leaves unordered; one barrier at the right place fixes all of these findings.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "vgpu/report/finding.h"

namespace tessera::vgpu {

struct Cure {
  std::vector<std::size_t> findings;  // indices of those that it fixes, ascending; never empty
  FindingPlace from, to;  // for several findings: the change goes after `from`, before `to`
};

// Returns each finding in one cure; cures are in the order of their first findings. Findings share
// a cure if their changes are equal (Finding::cure) and one place in the PTX does for all.
std::vector<Cure> by_cure(const std::vector<Finding>& findings);

// Returns the remedy in one sentence. `name` returns the name of a line.
using LineName = std::function<std::string(const FindingPlace&)>;
std::string text_of(const Cure& cure, const std::vector<Finding>& findings, const LineName& name);

// Returns "between line 8 and line 13" or, in a loop, "after line 13, before line 8 runs again". If
// both lines are one line that reads and then writes, it says that the line must be split.
std::string gap_text(const FindingPlace& from, const FindingPlace& to, bool wraps,
                     const LineName& name);

// Returns the line of the kernel, with that of the inlined function in parentheses:
// "src/ladder/03_shared_tile/kernel.cu:28 (inlined from src/ladder/shared/common.h:61)". If no
// source is known, returns the PTX line.
std::string own_line(const FindingPlace& place);

}  // namespace tessera::vgpu
