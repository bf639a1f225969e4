// Measures the joules of a call. The GPU counts its own energy but updates the sum rarely, so a
// candidate runs for seconds between two readings, hot and without a pause.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "lab/timing/measure.h"

namespace tessera::lab {

struct EnergyOptions {
  std::uint64_t seed = 1;
  int rounds = 2;
  double warm_ms = 500;  // untimed, so that clocks and temperature are those of a busy GPU
  double timed_ms = 3000;
  std::function<bool()> stop;  // asked before each run
};

// Joules that the GPU has used since some time in the past; nullopt if it does not report it.
using EnergyCounter = std::function<std::optional<double>()>;

// A candidate and the milliseconds of one call, as measured before.
struct EnergyCandidate {
  Candidate candidate;
  double call_ms = 0;
};

// Joules of one call, a mean over all rounds; nullopt without a counter. Candidates alternate in
// seeded random order.
std::vector<std::optional<double>> joules_a_call(Timer& timer, const EnergyCounter& counter,
                                                 const std::vector<EnergyCandidate>& candidates,
                                                 const EnergyOptions& options = {});

}  // namespace tessera::lab
