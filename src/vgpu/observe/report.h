// What one launch did. Report types only: other rooms may include this page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/observe/finding.h"

namespace tessera::vgpu {

// One PTX instruction, summed over the launch.
struct InstructionReport {
  std::string form;  // "ld.shared.v4.f32"
  int ptx_line = 0;
  std::uint64_t warp = 0;    // issues with at least one active lane
  std::uint64_t thread = 0;  // sum of active, predicated-on lanes
  std::string source_file;   // from .loc; empty if unknown
  int source_line = 0;
};

struct LaunchReport {
  std::vector<InstructionReport> instructions;  // those that ran, in PTX order
  std::uint64_t warp_instructions = 0;
  std::uint64_t lane_instructions = 0;
  double host_seconds = 0;
  std::vector<std::string> approximate_forms;  // executed forms that are not bit-exact
  std::vector<Finding> findings;               // of Observation::checks, worst first
};

}  // namespace tessera::vgpu
