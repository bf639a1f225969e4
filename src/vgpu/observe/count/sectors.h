// Which sectors and lines of global memory a request touches, and how much of them.
#pragma once

#include <vector>

#include "vgpu/observe/count/lanes_of_access.h"
#include "vgpu/report/memory_counts.h"

namespace tessera::vgpu {

// Neighbouring sectors.
struct SectorRun {
  std::int64_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const SectorRun&) const = default;
};

struct Request {
  GlobalCounts counts;          // counts of this one request
  std::vector<SectorRun> runs;  // ascending
};

// partial_sectors counts sectors in which the access leaves bytes untouched, whatever its kind.
Request count_request(const LaneAccess& access);

// The same for `bytes` neighbouring bytes that no lane requested: requests and lanes stay 0.
Request count_span(std::uint64_t address, std::uint64_t bytes);

}  // namespace tessera::vgpu
