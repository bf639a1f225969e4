// Predicts how long a kernel would take on a given GPU, from the virtual GPU's counts and the
// compiled code. This is a model with a measured error; docs/model.md describes it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/costs.h"
#include "arch/gpu.h"
#include "lab/counts/count_run.h"

namespace tessera::lab {

// A unit of the GPU, and how long it was busy.
struct UnitTime {
  std::string name;  // "issue slots", "FMA unit", "shared memory", "L1", "L2", "device memory", ...
  double ms = 0;
};

struct LaunchPrediction {
  std::string entry;
  double ms = 0;
  std::string bound;            // the busiest unit, or "latency" when all of them mostly wait
  int ctas_of_sm = 0;           // CTAs on one SM at a time
  double waves = 0;             // how often the grid's CTAs fill the GPU
  std::vector<UnitTime> units;  // the busiest first
  // The components of `ms`, if there is a loop. `even_ms` is the time of the loop if its waves
  // filled all SMs evenly. It differs from `loop_ms` because of the last wave, which fills only
  // some SMs.
  double launch_ms = 0, wave_ms = 0, loop_ms = 0, even_ms = 0;
  std::vector<UnitTime> even_units;  // units of `even_ms`, the busiest first
  std::string even_bound;
};

struct Prediction {
  std::string gpu;  // "h200"
  double time_ms = 0;
  std::string bound;  // the bound of the longest launch
  std::string model;  // the model's name and error, for people
  std::vector<LaunchPrediction> launches;
};

// Needs counts with memory; counts of a sample are enough. Throws kUnsupported if a launch does not
// fit on the GPU, if there is no machine code for it, or if the rate of its multiplies is unknown.
Prediction predict(const CountedRun& run, const arch::Gpu& gpu);
// Like predict, but returns nullopt instead of throwing kUnsupported. `why_not` is then the reason.
std::optional<Prediction> predict_if_known(const CountedRun& run, const arch::Gpu& gpu,
                                           std::string* why_not = nullptr);
Prediction predict(const CountedRun& run, const arch::Gpu& gpu, const arch::Costs& costs);

// Returns the prediction for one launch, without its start time. Throws like predict().
LaunchPrediction predict_launch(const LaunchCounts& counts, std::span<const std::byte> cubin,
                                const std::string& entry, const arch::Gpu& gpu);

// Returns "replay of the main loop: median error 2 %, at most 16 %, at 1024 and 2048".
std::string model_name(const arch::Gpu& gpu);

}  // namespace tessera::lab
