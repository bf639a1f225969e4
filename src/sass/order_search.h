// The beam search behind reorder(): puts one instruction after the other and follows the orders
// that have cost least so far. Internal to src/sass.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sass/dependences.h"
#include "sass/ports.h"

namespace tessera::sass {

// An instruction of a region, as the search sees it.
struct Item {
  bool moves = false;
  PortAccess access;         // with every operand kept that may be
  std::vector<int> written;  // general registers
  int stall = 1, longest_stall = 1;
  std::vector<Dependence> before;
  std::size_t latest = 0;  // place where it may stand at the latest
};

// Items in their new order, and the stall of each.
struct FoundOrder {
  std::vector<std::size_t> order;
  std::vector<int> stalls;
};
// Those that do not move keep their places. Nothing if all ways ended early.
std::optional<FoundOrder> find_order(const std::vector<Item>& items, const ReorderOptions& options);

}  // namespace tessera::sass
