// Two CTAs, one above the other, each load half of the tile of B and multicast it to both.
#pragma once

#include "ladder/shared/warpgroup_config.h"

namespace tessera::cluster_multicast {

using Config = ladder::WarpgroupConfig;
using Params = ladder::WarpgroupParams;

inline constexpr auto kConfigs = rows_of<Config>({
    {"128x256x64_s4_c2x1",
     {.block = {128, 256, 64},
      .stages = 4,
      .consumers = 2,
      .producer_registers = 40,
      .consumer_registers = 232,
      .persistent = true,
      .grouped = true,
      .cluster = {2, 1}}},
});

}  // namespace tessera::cluster_multicast
