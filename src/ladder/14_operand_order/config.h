// Rung 13 with its FFMAs in another order.
#pragma once

#include "ladder/14_operand_order/order.h"
#include "ladder/shared/async_tile.h"

namespace tessera::operand_order {

inline constexpr int kPortableArch = 80;  // cp.async

struct Config : ladder::AsyncTile {
  Order order;
};

inline constexpr auto kConfigs =
    for_all_majors<Config>({{"256x128x16", {ladder::k256x128x16, Order::kBlocks}},
                            {"serpentine", {ladder::k256x128x16, Order::kSerpentine}},
                            {"rows", {ladder::k256x128x16, Order::kRows}}});

}  // namespace tessera::operand_order
