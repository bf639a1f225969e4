// The products that warps have issued and not yet waited for.
#include "vgpu/async/wgmma_queue.h"

#include "vgpu/exec/warp.h"

namespace tessera::vgpu {

void issue_wgmma(Lanes&, const Op&, const WgmmaWork& work, WgmmaRun run) { run(work); }
int warp_index(const Lanes& lanes) { return static_cast<int>(lanes.warp->index()); }
void fence_wgmma(Lanes&, const Op&) {}
void commit_wgmma(Lanes&, const Op&) {}
void wait_wgmma(Lanes&, const Op&) {}

}  // namespace tessera::vgpu
