// Instructions in which the lanes of a warp work together.
#include <array>

#include "vgpu/exec/decode/decoder.h"

namespace tessera::vgpu {

std::span<const RuleEntry> collective_rules() { return {}; }

}  // namespace tessera::vgpu
