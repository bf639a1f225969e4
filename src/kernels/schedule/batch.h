// Many products of one shape in one launch. The grid stays linear: tile indices of all products are
// one range, and a CTA finds its product by division. Plain data, part of a kernel's parameters.
#pragma once

namespace tessera::schedule {

struct Batch {
  long long a, b, c, d;  // bytes from one product's operand to the next one's; 0: all share it
  int count;             // of products
  int tiles_m;           // rows of tiles of each, where the rows of all products are one column
  int pointers;          // 1: a, b, c and d of the problem are arrays of `count` addresses
  int unused = 0;        // a parameter block without padding
};

// What everybody has who has no batch.
constexpr Batch no_batch(int tiles_m) { return {0, 0, 0, 0, 1, tiles_m, 0}; }

}  // namespace tessera::schedule
