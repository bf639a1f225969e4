// Many products of one shape in one launch. The grid stays linear: the tiles of all products have
// consecutive numbers, and a CTA finds its product by division. Plain data in kernel parameters.
#pragma once

namespace tessera::schedule {

struct Batch {
  long long a, b, c, d;  // bytes between the operands of two products; 0: all share one operand
  int count;             // number of products
  int tiles_m;           // rows of tiles per product, if the products form one column of tiles
  int pointers;          // 1: a, b, c and d of the problem are arrays of `count` addresses
  int unused = 0;        // so that the struct has no padding
};

// The batch of a single product.
constexpr Batch no_batch(int tiles_m) { return {0, 0, 0, 0, 1, tiles_m, 0}; }

}  // namespace tessera::schedule
