// Notes with facts that machine code does not contain: how many blocks share an SM, and how many
// wavefronts the loads from shared memory take in a run on the virtual GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/gpu.h"
#include "cli/sass_call/sass_input.h"
#include "sass/report/report.h"

namespace tessera::cli {

// A note that the build has patched the code of a catalog kernel, or why the build has not patched
// it. The text is empty for all other code.
sass::Note patch_note(const MachineKernel& kernel);

sass::Note occupancy_note(const MachineKernel& kernel, const arch::Gpu& gpu);

// A note from a run of a catalog kernel on about `sample` blocks; no text if there is no run.
sass::Note wavefront_note(const MachineKernel& kernel, std::uint64_t seed, std::uint64_t sample);

}  // namespace tessera::cli
