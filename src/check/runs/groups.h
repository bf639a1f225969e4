// Findings that one change cures, shown as one finding with its places.
#pragma once

#include <string>
#include <vector>

#include "check/runs/run.h"
#include "check/source.h"

namespace tessera::checking {

// "  also:  a.cu:14 and a.cu:8, 32 times" for each finding after the first, a few of them unless
// `all`; empty for a finding alone.
std::string also_text(const vgpu::Cure& group, const CheckResult& result, SourceLines& lines,
                      bool all);

// The change that cures all findings of the group; a finding alone has its own hint.
std::string cure_text(const vgpu::Cure& group, const CheckResult& result, SourceLines& lines);

// The number of each finding's group, from 1.
std::vector<int> groups_of(const CheckResult& result);

}  // namespace tessera::checking
