// Memory accesses of matrix instructions. Lanes compute their addresses from several registers.
#pragma once

#include "vgpu/exec/ops/memory/access.h"

namespace tessera::vgpu::TESSERA_VGPU_ISA {

// Finds the host memory for one access of each lane in `mask`, at its address. The addresses of the
// other lanes are overwritten.
template <AccessKind kind, int bytes>
inline void reach(Lanes& lanes, const Op& op, u32 mask, u64* address, Access& access) {
  const u32 all = lanes.mask;
  const u64 stand_in = address[first_lane(mask)];
  for (int l = 0; l < kLanes; ++l) address[l] = mask >> l & 1 ? address[l] : stand_in;
  lanes.mask = mask;
  const Window window = Window(op.flags & kWindowMask);
  if (window == Window::kGeneric) {
    scatter_generic<kind, bytes>(lanes, op, address, access);
  } else {
    scatter_in<bytes>(lanes, op, window, address, access);
    tell<kind, bytes>(lanes, op, window, mask, address);
  }
  lanes.mask = all;
}

}  // namespace tessera::vgpu::TESSERA_VGPU_ISA
