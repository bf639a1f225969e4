// The beam search of reorder(). It places one instruction after the other and continues the orders
// with the lowest cost so far. Internal to src/sass.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sass/model/ports.h"
#include "sass/rewrite/dependences.h"

namespace tessera::sass {

// An instruction of a region, as the search uses it.
struct Item {
  bool moves = false;
  PortAccess access;         // keeps every operand that may be kept
  std::vector<int> written;  // general registers
  int stall = 1, longest_stall = 1;
  int holds_pipe = 0;  // cycles before the next instruction of the FP32 pipe
  std::vector<Dependence> before;
  std::size_t earliest = 0, latest = 0;  // the range of the item's new place
  // The dependences that belong to the item's old position. They apply to the instruction that is
  // now placed there.
  std::vector<Dependence> of_place;
};

// The items in their new order, and the stall of each.
struct FoundOrder {
  std::vector<std::size_t> order;
  std::vector<int> stalls;
};
// Items that do not move keep their positions. Returns nullopt if no order is possible.
std::optional<FoundOrder> find_order(const std::vector<Item>& items, const ReorderOptions& options);

}  // namespace tessera::sass
