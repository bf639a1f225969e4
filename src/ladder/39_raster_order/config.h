// Tiles in compact groups, so that L2 holds the operands that concurrent tiles share.
#pragma once

#include "ladder/shared/warpgroup_config.h"

namespace tessera::raster_order {

using Config = ladder::WarpgroupConfig;
using Params = ladder::WarpgroupParams;

inline constexpr auto kConfigs = rows_of<Config>({
    {"128x256x64_s4",
     {.block = {128, 256, 64},
      .stages = 4,
      .consumers = 2,
      .producer_registers = 40,
      .consumer_registers = 232,
      .persistent = true,
      .grouped = true}},
});

}  // namespace tessera::raster_order
