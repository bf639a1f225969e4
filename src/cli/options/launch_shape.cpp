#include "cli/options/launch_shape.h"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "base/numbers.h"
#include "base/status.h"

namespace tessera::cli {
namespace {

constexpr std::int64_t kMostCtas = 0x7fffffff, kMostRows = 65535;

struct Extent3 {
  std::int64_t x = 1, y = 1, z = 1;
};

// Reads "x", "x,y" or "x,y,z". Each number is from 1 to its limit in `most`.
Extent3 parse_extent(const std::string& option, const std::string& text, const Extent3& most) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() > 3) {
    throw StatusError(
        Status::bad_argument(fmt::format("{} is '{}', but must be x, x,y or x,y,z", option, text)));
  }
  Extent3 extent;
  std::int64_t* const to[3] = {&extent.x, &extent.y, &extent.z};
  const std::int64_t limit[3] = {most.x, most.y, most.z};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    *to[i] =
        parse_integer(fmt::format("{} '{}' in {}", option, text, "xyz"[i]), parts[i], 1, limit[i]);
  }
  return extent;
}

}  // namespace

// HW: the limits of a launch are from the CUDA C++ Programming Guide, technical specifications.
LaunchShape parse_shape(const ShapeWords& words) {
  const Extent3 grid = parse_extent("--grid", words.grid, {kMostCtas, kMostRows, kMostRows});
  const Extent3 block = parse_extent("--block", words.block, {1024, 1024, 64});
  const std::int64_t threads = block.x * block.y * block.z;
  if (threads > 1024) {
    throw StatusError(
        Status::bad_argument(fmt::format("--block is '{}', which is {} threads, but a block has at "
                                         "most 1024; give more blocks of fewer threads",
                                         words.block, threads)));
  }
  LaunchShape shape;
  shape.grid = grid.x;
  shape.grid_y = static_cast<int>(grid.y);
  shape.grid_z = static_cast<int>(grid.z);
  shape.block = static_cast<int>(block.x);
  shape.block_y = static_cast<int>(block.y);
  shape.block_z = static_cast<int>(block.z);
  if (!words.cluster.empty()) {
    const Extent3 cluster = parse_extent("--cluster", words.cluster, {16, 16, 16});
    shape.cluster[0] = static_cast<int>(cluster.x);
    shape.cluster[1] = static_cast<int>(cluster.y);
    shape.cluster[2] = static_cast<int>(cluster.z);
  }
  if (!words.shared.empty()) {
    shape.shared_bytes = static_cast<int>(parse_integer("--shared", words.shared, 0, 227 << 10));
  }
  return shape;
}

}  // namespace tessera::cli
