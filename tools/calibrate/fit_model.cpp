// Lays predicted beside measured times of the ladder, and fits the two parameters of the model that
// no microbenchmark measures: how long a load waits beyond L1 while all SMs load, and what filling
// and draining the GPU with a wave of CTAs costs.
//
//   fit_model fit MEASURED.json > results/calibration/h200_model_fit.json      looks at 1024 and
//   2048 alone fit_model check MEASURED.json > results/calibration/h200_model_check.json  looks at
//   4096 alone
//
// MEASURED is what `tessera bench --device cuda` wrote. The fit is made and committed before the
// run that the check reads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "arch/gpus.h"
#include "base/renamed.h"
#include "device/virtual/virtual_device.h"
#include "lab/model/predict.h"
#include "lab/record/record.h"

namespace tessera {
namespace {

using lab::Json;

constexpr std::uint64_t kCtas = 24;  // of a sample
constexpr std::uint64_t kSeed = 1;

struct Row {
  std::string kernel;
  std::int64_t size = 0;
  double measured_ms = 0;
  lab::CountedRun run;
};

Json read(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error("Cannot read " + path + ".");
  return Json::parse(read_with_current_names(stream));
}

// Burst times of the default variants at these sizes. Other rows are not looked at.
std::vector<Row> rows_of(const Json& file, const std::vector<std::int64_t>& sizes) {
  std::vector<Row> rows;
  const auto device = make_virtual_device();
  for (const Json& run : file["runs"]) {
    const std::int64_t size = run["problem"]["m"];
    const bool is_wanted = std::ranges::find(sizes, size) != sizes.end();
    if (!is_wanted || run["mode"] != "burst" || run["problem"]["layout"] != "NN") continue;
    const std::string kernel = run["kernel"];
    const KernelChoice choice = choose_kernels(kernel)[0];
    if (run["config"] != choice.variant) continue;
    Problem problem;
    problem.m = problem.n = problem.k = size;
    problem.types = choice.kernel->types;
    rows.push_back({kernel, size, run["time_ms"]["median"],
                    lab::count_run(*device, choice, problem, kSeed, kCtas)});
    std::fprintf(stderr, "counted %s %ld\n", kernel.c_str(), static_cast<long>(size));
  }
  return rows;
}

double error_of(const Row& row, double predicted_ms) { return predicted_ms / row.measured_ms - 1; }

// Predictions of all rows.
std::vector<lab::Prediction> predictions(const std::vector<Row>& rows, const arch::Costs& costs) {
  std::vector<lab::Prediction> all;
  for (const Row& row : rows) all.push_back(lab::predict(row.run, arch::kH200, costs));
  return all;
}

// Waves enter a prediction as a sum, so another cost of theirs needs no new one.
double with_waves(const lab::Prediction& prediction, double more_us) {
  double ms = prediction.time_ms;
  for (const lab::LaunchPrediction& launch : prediction.launches) {
    ms += std::ceil(launch.waves) * more_us * 1e-3;
  }
  return ms;
}

// The root of the mean square of the logarithms: twice as long weighs as much as half as long.
double misfit(const std::vector<Row>& rows, const std::vector<lab::Prediction>& predicted,
              double more_us) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    sum += std::pow(std::log(with_waves(predicted[i], more_us) / rows[i].measured_ms), 2);
  }
  return std::sqrt(sum / static_cast<double>(rows.size()));
}

// Rows, their median and largest error.
Json compared(const std::vector<Row>& rows, const arch::Costs& costs) {
  Json table = Json::array();
  std::vector<double> errors;
  for (const Row& row : rows) {
    const lab::Prediction prediction = lab::predict(row.run, arch::kH200, costs);
    const double error = error_of(row, prediction.time_ms);
    errors.push_back(std::abs(error));
    table.push_back({{"kernel", row.kernel},
                     {"size", row.size},
                     {"measured_ms", row.measured_ms},
                     {"predicted_ms", prediction.time_ms},
                     {"error", error},
                     {"bound", prediction.bound}});
  }
  std::ranges::sort(errors);
  const std::size_t half = errors.size() / 2;
  const double median = errors.empty()           ? 0
                        : errors.size() % 2 == 1 ? errors[half]
                                                 : (errors[half - 1] + errors[half]) / 2;
  return {{"median_error", median},
          {"largest_error", errors.empty() ? 0 : errors.back()},
          {"rows", table}};
}

// Every pair of a latency and a start of a wave; the smallest misfit wins.
Json fitted(const std::vector<Row>& rows) {
  const arch::Costs in_use = arch::costs_of(arch::kH200);
  arch::Costs best = in_use;
  double least = -1;
  Json tried = Json::array();
  for (int latency = 280; latency <= 620; latency += 20) {
    arch::Costs costs = in_use;
    costs.miss_latency = latency;
    const std::vector<lab::Prediction> predicted = predictions(rows, costs);
    for (const double wave_us : {0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0}) {
      costs.wave_us = wave_us;
      const double off = misfit(rows, predicted, wave_us - in_use.wave_us);
      tried.push_back({{"miss_latency", latency}, {"wave_us", wave_us}, {"misfit", off}});
      if (least < 0 || off < least) {
        least = off;
        best = costs;
      }
    }
  }
  if (best.miss_latency != in_use.miss_latency || best.wave_us != in_use.wave_us) {
    std::fprintf(stderr, "src/arch/costs.h has miss_latency %g and wave_us %g, the fit %g and %g\n",
                 in_use.miss_latency, in_use.wave_us, best.miss_latency, best.wave_us);
  }
  Json result = {{"parameters", {{"miss_latency", best.miss_latency}, {"wave_us", best.wave_us}}},
                 {"tried", tried}};
  result.update(compared(rows, best));
  return result;
}

// The fit must not have seen what it is checked on: dates are ISO 8601, so they order as text.
void require_later_than_fit(const std::string& path, const Json& file) {
  const Json fit = read("results/calibration/h200_model_fit.json");
  const std::string measured = file["environment"]["date"], fitted_to = fit["measured_on"];
  if (measured > fitted_to) return;
  throw std::runtime_error(path + " is of " + measured + ", but the fit looked at a file of " +
                           fitted_to + ": a check needs a later run.");
}

int run(const std::string& command, const std::string& path) {
  const bool fits = command == "fit";
  if (!fits && command != "check") throw std::runtime_error("The command is fit or check.");
  const Json file = read(path);
  if (!fits) require_later_than_fit(path, file);
  const std::vector<Row> rows =
      rows_of(file, fits ? std::vector<std::int64_t>{1024, 2048} : std::vector<std::int64_t>{4096});
  Json result = {{"schema", "tessera.model/1"},
                 {"gpu", arch::kH200.name},
                 {"what", fits ? "fit set" : "check set"},
                 {"measured_on", file["environment"]["date"]},
                 {"measured_in", path}};
  result.update(fits ? fitted(rows) : compared(rows, arch::costs_of(arch::kH200)));
  std::printf("%s\n", result.dump(1).c_str());
  return 0;
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw std::runtime_error("Usage: fit_model fit|check MEASURED.json");
    return tessera::run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fit_model: %s\n", error.what());
    return 1;
  }
}
