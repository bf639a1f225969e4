// One CTA per SM, which loads its next tile while it stores the previous one.
#pragma once

#include "ladder/shared/warpgroup_config.h"

namespace tessera::persistent_grid {

using Config = ladder::WarpgroupConfig;
using Params = ladder::WarpgroupParams;

inline constexpr auto kConfigs = rows_of<Config>({
    {"128x256x64_s4",
     {.block = {128, 256, 64},
      .stages = 4,
      .consumers = 2,
      .producer_registers = 40,
      .consumer_registers = 232,
      .persistent = true}},
});

}  // namespace tessera::persistent_grid
