#include "lab/explain/rest.h"

#include <algorithm>
#include <string>

#include "lab/explain/advice/advice.h"

namespace tessera::lab {
namespace {

// Returns the time of a launch without starting, filling and draining.
double inner_ms(const LaunchPrediction& launch) {
  return launch.ms - launch.launch_ms - launch.wave_ms;
}

bool is_of_loop(const LaunchPrediction& launch) {
  return !launch.even_units.empty() && inner_ms(launch) <= launch.loop_ms * (1 + 1e-9);
}

// Returns why a launch takes longer than its longest resource, if no other component explains it.
std::string remainder_of(const LaunchPrediction& launch) {
  if (is_of_loop(launch)) return kUnhidden;
  const auto memory = std::ranges::find(launch.units, "device memory", &UnitTime::name);
  const bool is_memory =
      memory != launch.units.end() && memory->ms >= inner_ms(launch) * (1 - 1e-9);
  return is_memory ? "reading and writing at the rate of a copy, below the data sheet's"
                   : "starting the blocks";
}

}  // namespace

std::vector<UnitTime> rest_of(std::span<const LaunchPrediction> launches, double bound_ms) {
  double ms = 0, starting = 0, filling = 0, last_wave = 0;
  for (const LaunchPrediction& one : launches) {
    ms += one.ms;
    starting += one.launch_ms;
    filling += one.wave_ms;
    if (is_of_loop(one)) last_wave += one.loop_ms - one.even_ms;
  }
  double left = ms - bound_ms - starting - filling - last_wave;
  // `bound_ms` covers the whole launch; the loop is a part of the launch. So work of the longest
  // resource that exceeds the loop's time is done in the last wave, and while SMs fill and drain.
  for (double* const part : {&last_wave, &filling, &starting}) {
    const double within = std::clamp(-left, 0.0, std::max(0.0, *part));
    *part -= within;
    left += within;
  }
  std::vector<UnitTime> rest = {
      {"launching", starting},
      {kFilling, filling},
      {"a last wave of blocks that fills a part of the GPU", last_wave},
      {launches.empty() ? kUnhidden : remainder_of(launches.back()), left}};
  std::erase_if(rest, [ms](const UnitTime& one) { return one.ms < 0.01 * ms; });
  std::ranges::stable_sort(rest, std::ranges::greater{}, &UnitTime::ms);
  return rest;
}

}  // namespace tessera::lab
