// Measures the parameters of a GPU that NVIDIA does not publish: the cost of shared-memory accesses
// by address pattern, of global requests by lines and sectors, latencies, rates of instructions,
// barriers, launches, atomics. Needs a driver; takes less than a minute.
//
//   calibrate --json FILE              on the GPU
//   calibrate --device virtual         runs every kernel once on the virtual GPU: no times
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <fstream>

#include "device/cuda/cuda_device.h"
#include "device/virtual/virtual_device.h"
#include "lab/record/record.h"
#include "tools/calibrate/timing/measurements.h"

namespace tessera::calibration {
namespace {

struct Options {
  std::string json = "-", device = "cuda", only;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw std::runtime_error(name + " needs a value");
    if (name == "--json") {
      options.json = argv[i + 1];
    } else if (name == "--device") {
      options.device = argv[i + 1];
    } else if (name == "--only") {
      options.only = argv[i + 1];
    } else {
      throw std::runtime_error(name + " is none of --json, --device, --only");
    }
  }
  if (options.device == "cuda" || options.device == "virtual") return options;
  throw std::runtime_error("--device is '" + options.device + "', but must be cuda or virtual");
}

void calibrate(const Options& options) {
  const auto device = options.device == "cuda" ? make_cuda_device() : make_virtual_device();
  Bench bench(*device, bytes_needed(*device, options.only));
  lab::Json file = {{"schema", "tessera.calibration/1"},
                    {"environment", lab::to_json(lab::describe_environment(*device))}};
  const std::pair<const char*, Json (*)(Bench&)> groups[] = {
      {"shared_memory", measure_shared_memory},
      {"global_memory", measure_global_memory},
      {"latency", measure_latency},
      {"streams", measure_streams},
      {"matrix", measure_matrix},
      {"pipes", measure_pipes},
      {"control", measure_control},
      {"collisions", measure_collisions},
      {"atomics", measure_atomics}};
  for (const auto& [name, measure] : groups) {
    if (!options.only.empty() && options.only != name) continue;
    const auto begin = std::chrono::steady_clock::now();
    file[name] = measure(bench);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    fmt::print(stderr, "{:<14} {:4} rows {:6.1f} s\n", name, file[name].size(), seconds.count());
  }
  lab::write_file(options.json, file.dump(1) + "\n", "--json");
}

}  // namespace
}  // namespace tessera::calibration

int main(int argc, char** argv) {
  try {
    tessera::calibration::calibrate(tessera::calibration::parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "calibrate: %s\n", error.what());
    return 1;
  }
}
