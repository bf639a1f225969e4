// Finds out whether a GPU starts the launch at all: its registers must suffice for all threads of a
// block. The virtual GPU has no registers, so their number is read from the machine code.
#pragma once

#include <optional>

#include "check/runs/run.h"
#include "lab/explain/explain.h"

namespace tessera::checking {

// Returns the needs of the kernel's machine code. All needs are 0 if registers cannot be too few
// (the block is small, or the kernel states its block size), or if there is no assembler. Each
// kernel is assembled once.
lab::CodeNeeds needs_of(const CheckPlan& plan);

// Returns the finding "launch-refused"; nullopt if the launch starts, or if the number of registers
// is not known.
std::optional<vgpu::Finding> refused_for_registers(const CheckPlan& plan);

}  // namespace tessera::checking
