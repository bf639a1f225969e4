// Measures how a sub-core reads its registers and issues instructions: banks, reuse cache, loads
// among multiply-adds, stalls, distances between dependent instructions, instruction caches. It
// puts exact machine code into kernels made for it. Needs an sm_90 GPU and a driver; takes less
// than a minute.
//
//   calibrate_registers --json FILE                 on the GPU
//   calibrate_registers --json FILE --only E3       one group
//   calibrate_registers --make-only                 makes every program, runs none
#include <fmt/format.h>

#include <chrono>

#include "device/cuda/cuda_device.h"
#include "lab/record/record.h"
#include "tools/calibrate/registers/measure.h"

namespace tessera::calibration {
namespace {

struct Options {
  std::string json = "-", only;
  bool make_only = false;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--make-only") {
      options.make_only = true;
      continue;
    }
    if (name != "--json" && name != "--only") {
      throw std::runtime_error(name + " is none of --json, --only, --make-only");
    }
    if (++i == argc) throw std::runtime_error(name + " needs a value");
    (name == "--json" ? options.json : options.only) = argv[i];
  }
  return options;
}

struct Group {
  const char* name;
  void (*measure)(Bench&, Json&);
};

constexpr Group kGroups[] = {
    {"issue", [](Bench& b, Json& rows) { measure_sequences(b, issue_sequences(), rows); }},
    {"banks", [](Bench& b, Json& rows) { measure_sequences(b, bank_sequences(), rows); }},
    {"reuse", [](Bench& b, Json& rows) { measure_sequences(b, reuse_sequences(), rows); }},
    {"blocks", [](Bench& b, Json& rows) { measure_sequences(b, block_sequences(), rows); }},
    {"random", [](Bench& b, Json& rows) { measure_sequences(b, random_sequences(), rows); }},
    {"shapes", [](Bench& b, Json& rows) { measure_sequences(b, shape_sequences(), rows); }},
    {"loads", [](Bench& b, Json& rows) { measure_sequences(b, load_sequences(), rows); }},
    {"yields", [](Bench& b, Json& rows) { measure_sequences(b, yield_sequences(), rows); }},
    {"loops", measure_loops},
    {"distances", measure_distances},
    {"whole_gpu", measure_whole_gpu},
    {"constants", measure_constants}};

// Every group that could be measured; a group that a fault ends says so. The file is written after
// each group, so that what hangs a GPU costs one group alone.
void measure(Bench& bench, const Options& options) {
  Json file = {{"schema", "tessera.registers/1"},
               {"environment", lab::to_json(lab::describe_environment(bench.device()))}};
  for (const Group& group : kGroups) {
    if (!options.only.empty() && options.only != group.name) continue;
    const auto begin = std::chrono::steady_clock::now();
    file[group.name] = Json::array();
    try {
      group.measure(bench, file[group.name]);
    } catch (const std::exception& error) {
      file["faults"][group.name] = error.what();
      fmt::print(stderr, "{}: {}\n", group.name, error.what());
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    fmt::print(stderr, "{:<10} {:4} rows {:6.1f} s\n", group.name, file[group.name].size(),
               seconds.count());
    if (options.json != "-") lab::write_file(options.json, file.dump(1) + "\n", "--json");
  }
  if (options.json == "-") lab::write_file(options.json, file.dump(1) + "\n", "--json");
}

void run(const Options& options) {
  if (options.make_only) {
    fmt::print("{} programs made\n", make_all_programs());
    return;
  }
  const auto device = make_cuda_device();
  Bench bench(*device, 1 << 20);
  measure(bench, options);
}

}  // namespace
}  // namespace tessera::calibration

int main(int argc, char** argv) {
  try {
    tessera::calibration::run(tessera::calibration::parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "calibrate_registers: %s\n", error.what());
    return 1;
  }
}
