// Counts the sectors and lines of global memory that a request accesses.
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

// partial_sectors counts sectors that are accessed only in part, for every kind of access.
Request count_request(const LaneAccess& access);

// Like count_request, for `bytes` contiguous bytes of a copy: requests and lanes stay 0.
Request count_span(std::uint64_t address, std::uint64_t bytes);

}  // namespace tessera::vgpu
