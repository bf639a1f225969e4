// What a kernel did, by count: the launches of a run summed by kind and width of access.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "device/device.h"

namespace tessera::lab {

struct Count {
  std::uint64_t warp = 0, thread = 0;
  Count& operator+=(const Count& other);
};

struct CountSummary {
  Count total, fma, matrix, barrier;  // matrix: tensor-core instructions
  std::map<int, Count> global_loads, global_stores, shared_loads, shared_stores;  // by bytes a lane
  std::string tag = "exact";  // "exact", "model: ..." (the cubin differs), "approximate"
  std::vector<std::string> approximate_forms;
  int launches = 0;
  double host_seconds = 0;

  // Multiply-adds for each load from shared memory, by thread; 0 where there are none.
  double fma_per_shared_load() const;
};

CountSummary summarize(const std::vector<LaunchCounts>& launches);

// Bytes that one lane moves in a load or store: "ld.shared.v4.f32" is 16, "wmma.load..." is 0.
int access_bytes(const std::string& form);

}  // namespace tessera::lab
