// The products that warps have issued and not yet waited for.
#pragma once

#include "vgpu/async/wgmma_work.h"

namespace tessera::vgpu {

// Runs the work now or inside the wait for its group.
void issue_wgmma(Lanes& lanes, const Op& op, const WgmmaWork& work, WgmmaRun run);
// Of the warp in its CTA.
int warp_index(const Lanes& lanes);
void fence_wgmma(Lanes& lanes, const Op& op);
void commit_wgmma(Lanes& lanes, const Op& op);
void wait_wgmma(Lanes& lanes, const Op& op);

}  // namespace tessera::vgpu
