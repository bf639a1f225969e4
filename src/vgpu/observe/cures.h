// Groups findings by their cure: a missing barrier is found once for each pair of lines that it
// leaves unordered, and one barrier in the right place cures them all.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "vgpu/report/finding.h"

namespace tessera::vgpu {

struct Cure {
  std::vector<std::size_t> findings;  // numbers of those that it mends, ascending; never empty
  FindingPlace from, to;  // for several findings: the change goes after `from`, before `to`
};

// Each finding once, in the order of the first of each cure. Findings share a cure if they need the
// same change (Finding::cure) and there is one place for it, by lines of the PTX.
std::vector<Cure> by_cure(const std::vector<Finding>& findings);

// The remedy in one sentence; `name` gives the name of a line.
using LineName = std::function<std::string(const FindingPlace&)>;
std::string text_of(const Cure& cure, const std::vector<Finding>& findings, const LineName& name);

// "between line 8 and line 13", or "after line 13, before line 8 runs again" where that is a loop;
// where both are one line that reads and then writes, it has to be two.
std::string gap_text(const FindingPlace& from, const FindingPlace& to, bool wraps,
                     const LineName& name);

// The kernel's own line, with the line of the inlined function in parentheses:
// "src/ladder/03_shared_tile/kernel.cu:28 (inlined from src/ladder/shared/common.h:61)"; the PTX
// line where no source is known.
std::string own_line(const FindingPlace& place);

}  // namespace tessera::vgpu
