// One launch of one entry point: where it runs and with which bytes. A plan is a short list of
// these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

// The grid is linear: tile indices live in grid.x alone (the others end at 65535).
struct LaunchShape {
  std::int64_t grid = 1;  // thread blocks, at most 2^31 - 1
  int block = 32;         // threads of a block along x
  int block_y = 1;        // and along y: 1 but for the first rungs
  int shared_bytes = 0;   // dynamic shared memory a block
};

struct Launch {
  std::string entry;  // extern "C" name in the image
  LaunchShape shape;
  std::vector<std::byte> params;  // the kernel's one parameter block
};

}  // namespace tessera
