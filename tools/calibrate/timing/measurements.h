// What is measured, a group of rows each. A row says what ran and what one instruction or request
// cost, in SM cycles; null on a device without a clock.
#pragma once

#include "tools/calibrate/timing/bench.h"

namespace tessera::calibration {

// Bytes of device memory that a group works on, or all of them where none is named.
std::size_t bytes_needed(const Device& device, const std::string& group);

Json measure_shared_memory(Bench& bench);
Json measure_global_memory(Bench& bench);
Json measure_latency(Bench& bench);
Json measure_streams(Bench& bench);
Json measure_matrix(Bench& bench);
Json measure_pipes(Bench& bench);
Json measure_control(Bench& bench);
Json measure_collisions(Bench& bench);
Json measure_atomics(Bench& bench);

}  // namespace tessera::calibration
