// Facts that the machine code alone does not contain: how many blocks share an SM, and how many
// wavefronts the loads of shared memory take when the kernel runs on the virtual GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/gpu.h"
#include "cli/sass_call/sass_input.h"
#include "sass/report/report.h"

namespace tessera::cli {

// States that the build has patched a catalog kernel's code, or why it has not. Empty text for all
// other code.
sass::Note patch_note(const MachineKernel& kernel);

sass::Note occupancy_note(const MachineKernel& kernel, const arch::Gpu& gpu);

// Runs a catalog kernel once, on about `sample` blocks. Empty text where it cannot be run.
sass::Note wavefront_note(const MachineKernel& kernel, std::uint64_t seed, std::uint64_t sample);

}  // namespace tessera::cli
