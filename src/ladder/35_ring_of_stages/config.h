// Three stages of 64 k: two tiles are being loaded while one is multiplied.
#pragma once

#include "ladder/shared/warpgroup_config.h"

namespace tessera::ring_of_stages {

using Config = ladder::WarpgroupConfig;
using Params = ladder::WarpgroupParams;

inline constexpr auto kConfigs = rows_of<Config>({
    {"128x128x64_s3", {.block = {128, 128, 64}, .stages = 3, .ctas = 2}},
});

}  // namespace tessera::ring_of_stages
