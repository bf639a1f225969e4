// Ordinary instructions must keep off the registers of a wgmma that is in flight, and between them
// and a wgmma on the same registers there must be a wgmma.fence. Which instructions may break that
// can be seen in the program; whether one does, only when it runs.
#pragma once

#include "vgpu/exec/decode/draft.h"
#include "vgpu/exec/decode/form.h"

namespace tessera::vgpu {

// Puts "wgmma.touch" before each instruction that may touch registers in flight, or registers that
// a wgmma may use before the next fence. It names them to the warp's queue, and does nothing else.
void watch_wgmma_registers(Draft& draft, const OperationSet& operations);

}  // namespace tessera::vgpu
