// Rung 41 for every layout: the contiguous index of each operand is a template argument.
#pragma once

#include "ladder/shared/warpgroup_config.h"

namespace tessera::any_layout {

using Config = ladder::WarpgroupConfig;
using Params = ladder::WarpgroupParams;

inline constexpr auto kConfigs = for_all_majors<Config>({
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

}  // namespace tessera::any_layout
