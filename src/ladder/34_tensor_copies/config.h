// Rung 33 with tensor copies for its operands: one thread starts them.
#pragma once

#include "ladder/shared/warpgroup_config.h"

namespace tessera::tensor_copies {

using Config = ladder::WarpgroupConfig;
using Params = ladder::WarpgroupParams;

inline constexpr auto kConfigs = rows_of<Config>({
    {"128x128x64", {.block = {128, 128, 64}, .ctas = 3}},
});

}  // namespace tessera::tensor_copies
