// The order in which a thread multiplies its two fragments. Pure constexpr: the host tests it.
//
//   kRows          kSerpentine     kBlocks: blocks of 2 x 2, in alternating direction
//   0  1  2  3     0  1  2  3      0  3 | 4  7
//   4  5  6  7     7  6  5  4      1  2 | 5  6
//   8  9 10 11     8  9 10 11      ------------
//  12 13 14 15    15 14 13 12     11  8 |15 12   (the second row of blocks: from right to left)
//                                 10  9 |14 13
#pragma once

#include "base/config.h"

namespace tessera::operand_order {

enum class Order { kRows, kSerpentine, kBlocks };

// Which of the `size.m` x `size.n` outputs of a thread is number `t` in the order.
constexpr OutputTile output_at(Order order, OutputTile size, int t) {
  const int row = t / size.n, col = t % size.n;
  const int back = size.n - 1 - col;
  if (order == Order::kRows) return {row, col};
  if (order == Order::kSerpentine) return {row, row % 2 == 0 ? col : back};
  const int block = t / 4, block_row = block / (size.n / 2);
  const int block_col = block % (size.n / 2), step = t % 4;
  const bool there = block_row % 2 == 0;
  const int down = step == 1 || step == 2, across = step >= 2;  // 0: up or left in the block
  return {2 * block_row + down,
          there ? 2 * block_col + across : size.n - 1 - (2 * block_col + across)};
}

}  // namespace tessera::operand_order
