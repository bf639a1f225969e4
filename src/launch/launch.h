// One launch of one entry point: its grid, its parameters and its tensor maps. A plan is a short
// list of launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "launch/tensor_map.h"

namespace tessera {

// The library's kernels have a linear grid: all tile indices are in grid.x, because grid.y and
// grid.z are limited to 65535. The other extents are for users' kernels.
struct LaunchShape {
  std::int64_t grid = 1;       // thread blocks, at most 2^31 - 1
  int block = 32;              // threads of a block along x
  int block_y = 1;             // threads of a block along y: 1 except in the first rungs
  int shared_bytes = 0;        // dynamic shared memory per block
  int grid_y = 1, grid_z = 1;  // at most 65535
  int block_z = 1;             // at most 64
  int cluster[3] = {0, 0, 0};  // thread blocks per cluster; 0: as the kernel declares, else 1
  // Programmatic dependent launch: the grid may start while the previous launch still runs, and its
  // kernel executes griddepcontrol.wait before it reads results of that launch. The virtual GPU
  // starts the grid after the previous launch has ended, and its checks report accesses before the
  // wait.
  bool starts_early = false;
};

// A tensor map among a launch's parameters. Each device has its own encoding, so a plan holds the
// description, and the device writes the 128 encoded bytes at `offset`.
struct LaunchTensorMap {
  std::size_t offset = 0;  // in the parameters, a multiple of 64
  TensorMapDesc desc;
};

struct Launch {
  std::string entry;  // extern "C" name in the image
  LaunchShape shape;
  std::vector<std::byte> params;  // the kernel's one parameter block, or several parameters
  std::vector<LaunchTensorMap> tensor_maps = {};
  // The offset of each parameter in `params`, naturally aligned; empty if there is one parameter
  // block.
  std::vector<std::size_t> param_offsets = {};
};

}  // namespace tessera
