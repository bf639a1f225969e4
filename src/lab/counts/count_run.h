// Runs a kernel on the virtual GPU for its counts alone, without reference and comparison, so that
// a part of a large grid is enough.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "catalog/catalog.h"
#include "device/device.h"
#include "device/virtual/observer.h"
#include "gemm/options.h"
#include "problem/operands.h"
#include "vgpu/observe/trace.h"

namespace tessera::lab {

struct CountedRun {
  Problem problem;
  const Kernel* kernel = nullptr;
  const KernelRow* row = nullptr;
  std::vector<Launch> launches;      // in order, addresses left out; the last one multiplies
  std::vector<LaunchCounts> counts;  // one per launch
};

// Runs the kernel once on uniform data and counts memory accesses. If sample_ctas is 0, the whole
// grid runs; else about this many thread blocks of each launch, and the counts are scaled up.
// Throws kUnsupported if the kernel does not take the problem, and kBadArgument if the problem is
// illegal or multiplies nothing.
CountedRun count_run(Device& device, const KernelChoice& choice, const Problem& problem,
                     std::uint64_t seed, std::uint64_t sample_ctas,
                     const gemm::PlanOptions& options = {});

// A counted run and the accesses of its multiplying launch.
struct TracedRun {
  CountedRun run;
  Operands operands;  // operands in device memory
  std::vector<vgpu::TracedAccess> accesses;
};

// Chooses what to record, when the addresses of the operands are known.
using ChooseTrace = std::function<void(const Operands&, vgpu::AccessTrace&)>;
TracedRun trace_run(Device& device, const KernelChoice& choice, const Problem& problem,
                    std::uint64_t seed, std::uint64_t sample_ctas, const ChooseTrace& choose);

// Returns the number of thread blocks to run of a large problem. Returns 0 (all blocks) for a
// problem that runs in seconds.
std::uint64_t sample_for(const KernelChoice& choice, const Problem& problem);

}  // namespace tessera::lab
