// Measures the energy of a call. The GPU counts its energy but updates the counter rarely, so a
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

// Returns the joules that the GPU has used since some time in the past; nullopt if it does not
// report them.
using EnergyCounter = std::function<std::optional<double>()>;

// A candidate, and the milliseconds of one of its calls, which were measured before.
struct EnergyCandidate {
  Candidate candidate;
  double call_ms = 0;
};

// Returns the joules of one call as a mean over all rounds; nullopt without a counter. Candidates
// alternate in seeded random order.
std::vector<std::optional<double>> joules_a_call(Timer& timer, const EnergyCounter& counter,
                                                 const std::vector<EnergyCandidate>& candidates,
                                                 const EnergyOptions& options = {});

}  // namespace tessera::lab
