// Groups findings that one change cures, and shows a group as one finding with its places.
#pragma once

#include <string>
#include <vector>

#include "check/runs/run.h"
#include "check/source.h"

namespace tessera::checking {

// Returns " also: a.cu:14 and a.cu:8, 32 times" for each finding after the first; without `all`,
// only for a few of these findings. Empty if the group has one finding.
std::string also_text(const vgpu::Cure& group, const CheckResult& result, SourceLines& lines,
                      bool all);

// Returns the change that cures all findings of the group; for a single finding, its own hint.
std::string cure_text(const vgpu::Cure& group, const CheckResult& result, SourceLines& lines);

// Returns the number of each finding's group, counted from 1.
std::vector<int> groups_of(const CheckResult& result);

}  // namespace tessera::checking
