// Blocks of 256 x 128 outputs with tiles loaded by asynchronous copies. The shape is defined in
// ladder/shared/async_tile.h.
#pragma once

#include "ladder/shared/async_tile.h"

namespace tessera::async_copy {

inline constexpr int kPortableArch = 80;  // cp.async

using Config = ladder::AsyncTile;

inline constexpr auto kConfigs = for_all_majors<Config>({{"256x128x16", ladder::k256x128x16}});

}  // namespace tessera::async_copy
