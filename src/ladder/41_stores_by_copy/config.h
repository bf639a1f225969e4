// Sums are stored through shared memory by asynchronous tensor copies.
#pragma once

#include "ladder/shared/warpgroup_config.h"

namespace tessera::stores_by_copy {

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
      .grouped = true,
      .store_buffers = 2}},
});

}  // namespace tessera::stores_by_copy
