// Turns counts into plain words: what limits a kernel, where, and the usual remedy. The rules
// depend only on counts, not on the kernel.
#pragma once

#include <string>
#include <vector>

#include "lab/model/predict.h"
#include "lab/model/resources.h"

namespace tessera::lab {

// The occupancy of an SM, and the number of SMs that the grid uses.
struct Placement {
  int ctas = 0;  // CTAs on one SM at a time; 0: not known
  int warps = 0, max_warps = 0;
  std::string limited_by;  // "registers", "shared memory", "threads", "blocks"
  int threads = 0;         // per block
  int registers = 0;       // per thread, from the cubin
  std::uint64_t shared_bytes = 0, local_bytes = 0;
  std::uint64_t grid = 0;  // blocks of the multiplying launch
  int sms = 0;
};

// The model's replay of the multiplying launch, without the time to start the launch.
struct Replay {
  bool known = false;
  bool fills_the_gpu = true;  // else the replay has the same blocks on full SMs
  bool waits = false;         // no part of the GPU is busy for most of the loop's time
  double ms = 0;
  double predicted_ms = 0;  // time of all launches and of their start, as the page shows it
  std::string busiest;      // the busiest unit by the model's name, "L1"
  double busy_ms = 0;
  // The components by which `predicted_ms` exceeds the time of the longest resource, or by which
  // `ms` does if the launch does not fill the GPU; the largest first.
  std::vector<UnitTime> rest;
};
// Names of components in Replay::rest: time that no unit explains.
inline const std::string kUnhidden = "latencies and barriers";
inline const std::string kFilling = "filling and draining the SMs";

struct Evidence {
  Totals totals;
  Replay replay;
  std::vector<ResourceUse> resources;  // the longest first, and that is what the verdict names
  std::vector<Site> sites;
  Placement placement;
  bool multiplies = true;   // multiplies matrices; else the advice on tiles would mislead
  double launch_share = 0;  // share of the launch's start in the predicted time; 0: not known
};

struct Advice {
  std::string rule;      // "bank-conflicts", "scattered-access", ...
  double weight = 0;     // the affected share of the bound, 0 to 1; the list is sorted by it
  std::string sentence;  // the observation, with its place
  std::string remedy;    // the usual remedy
};

// Returns the advice of every rule that applies, the weightiest first.
std::vector<Advice> advise(const Evidence& evidence);

// Returns a few words for a table: "bank conflicts", "issue slots".
std::string limited_by(const Evidence& evidence);

// Returns one sentence: what limits the kernel, and the source line that contributes most.
std::string verdict(const Evidence& evidence);

// Returns the sites that use the resource named in the verdict, the largest first.
std::vector<Site> by_cost(const Evidence& evidence);

}  // namespace tessera::lab
