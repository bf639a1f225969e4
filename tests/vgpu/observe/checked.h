// Runs a kernel under all checks and asks what they found.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/vgpu/exec/run_ptx.h"

namespace tessera::vgpu {

using Findings = std::vector<Finding>;

inline MachineOptions checking(int host_threads = 1) {
  MachineOptions options;
  options.host_threads = host_threads;
  options.observation.checks = true;
  return options;
}

// The findings of a kernel as in run_ptx.h; `declarations` usually declare shared memory. The host
// writes all words first.
inline Findings check(std::string_view body, const LaunchShape& shape,
                      std::string_view declarations = "", int host_threads = 1) {
  return run_text(kernel_text(body, "", declarations), std::vector<std::uint32_t>(4096), shape,
                  checking(host_threads))
      .report.findings;
}

inline std::string text_of(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += finding.check + ": " + finding.message + ". " + finding.hint + ".\n";
    for (const FindingPlace& place : finding.places) {
      text += "  " + place.form + ": " + place.what + "\n";
    }
  }
  return text;
}

// One finding of this check, or none at all; `in` gives the instruction that comes later.
inline void expect_found(const Findings& findings, std::string_view check, std::string_view form,
                         Severity severity = Severity::kError) {
  const bool found = std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.check == check && finding.severity == severity && !finding.message.empty() &&
           !finding.hint.empty() && !finding.places.empty() && finding.places[0].form == form;
  });
  EXPECT_TRUE(found) << check << " at " << form << " was expected, but there is:\n"
                     << text_of(findings);
}

inline void expect_clean(const Findings& findings) {
  EXPECT_TRUE(findings.empty()) << text_of(findings);
}

}  // namespace tessera::vgpu
