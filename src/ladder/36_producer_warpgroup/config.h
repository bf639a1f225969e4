// A warpgroup that only loads gives registers to the warpgroup that multiplies.
#pragma once

#include "ladder/shared/warpgroup_config.h"

namespace tessera::producer_warpgroup {

using Config = ladder::WarpgroupConfig;
using Params = ladder::WarpgroupParams;

inline constexpr auto kConfigs = rows_of<Config>({
    {"128x128x64_s3",
     {.block = {128, 128, 64},
      .stages = 3,
      .ctas = 2,
      .producer_registers = 40,
      .consumer_registers = 208}},
});

}  // namespace tessera::producer_warpgroup
