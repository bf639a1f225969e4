// The tile that a CTA of repack_bytes moves. For host and device.
#pragma once

#include "kernels/passes/params.h"

namespace tessera::passes {

inline constexpr RepackTile kRepackBytes{128, 64};
inline constexpr int kRepackedBytes = 128;  // ld is a multiple of this

}  // namespace tessera::passes
