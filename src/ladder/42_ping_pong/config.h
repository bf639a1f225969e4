// Two consumers, each with its own tile: one multiplies while the other stores.
#pragma once

#include "ladder/shared/warpgroup_config.h"

namespace tessera::ping_pong {

using Config = ladder::WarpgroupConfig;
using Params = ladder::WarpgroupParams;

inline constexpr auto kConfigs = rows_of<Config>({
    {"128x192x64_s5",
     {.block = {128, 192, 64},
      .stages = 5,
      .consumers = 2,
      .producer_registers = 40,
      .consumer_registers = 232,
      .persistent = true,
      .grouped = true,
      .store_buffers = 1,
      .ping_pong = true}},
    {"192x192x64_s4_together",
     {.block = {192, 192, 64},
      .stages = 4,
      .consumers = 3,
      .producer_registers = 32,
      .consumer_registers = 160,
      .persistent = true,
      .grouped = true,
      .store_buffers = 1}},
});

}  // namespace tessera::ping_pong
