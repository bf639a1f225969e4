// Ordinary instructions must not use registers of a wgmma in flight. Between an ordinary
// instruction and a wgmma on the same register there must be a wgmma.fence. The code shows which
// instructions may break these rules; only at run time it is known whether they do.
#pragma once

#include "vgpu/exec/decode/draft.h"
#include "vgpu/exec/decode/form.h"

namespace tessera::vgpu {

// Inserts "wgmma.touch" before each instruction that may use registers in flight, or registers that
// a wgmma may use before the next fence. It only reports these registers to the warp's queue.
void watch_wgmma_registers(Draft& draft, const OperationSet& operations);

}  // namespace tessera::vgpu
