// The type of all coordinates along m and n: of a lane in its warp, of a warp in its block, of a
// tile in D. For host and device.
#pragma once

namespace tessera::tile {

template <class Index = int>
struct Coord {
  Index m, n;
};

}  // namespace tessera::tile
