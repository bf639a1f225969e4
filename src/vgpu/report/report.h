// The report on one launch. Report types only: code outside vgpu may include this header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/report/finding.h"
#include "vgpu/report/memory_counts.h"

namespace tessera::vgpu {

// One PTX instruction; the counts are summed over the launch.
struct InstructionReport {
  std::string form;  // "ld.shared.v4.f32"
  int ptx_line = 0;
  std::uint64_t warp = 0;    // issues with at least one active lane
  std::uint64_t thread = 0;  // sum of active, predicated-on lanes
  std::string source_file;   // from .loc; empty if unknown
  int source_line = 0;
  std::uint32_t index = 0;  // in the kernel
  MemoryCounts memory;      // if Observation::memory asks for it
};

// The resources that a launch uses.
struct LaunchResources {
  std::uint64_t ctas = 0;
  std::uint32_t ctas_per_cluster = 1;
  std::uint32_t threads = 0;       // a CTA
  std::uint32_t shared_bytes = 0;  // a CTA, static and dynamic
  std::uint32_t local_bytes = 0;   // a thread, without the frames of what it calls
  // Approximate: the maximum number of live 32-bit registers in a thread's PTX. ptxas reorders
  // instructions and may need more or fewer.
  std::uint32_t live_registers = 0;
};

// How many clusters of the launch ran. If not all did (Observation::sample_ctas), all counts, and
// estimates too, are scaled up. If all did, ran == clusters.
struct LaunchSample {
  std::uint64_t clusters = 0, ran = 0;
  bool is_partial() const { return ran < clusters; }
};

struct LaunchReport {
  std::vector<InstructionReport> instructions;  // only instructions that ran, in PTX order
  std::uint64_t warp_instructions = 0;
  std::uint64_t lane_instructions = 0;
  double host_seconds = 0;
  std::vector<std::string> approximate_forms;  // executed forms that are not bit-exact
  std::vector<Finding> findings;               // if Observation::checks; worst first
  std::vector<UndefinedRead> undefined_reads;  // if Observation::checks; in PTX order
  LaunchMemory memory;                         // if Observation::memory asks for it
  LaunchResources resources;
  LaunchSample sample;
};

}  // namespace tessera::vgpu
