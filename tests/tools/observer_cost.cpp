// What counting and checking cost: CPU seconds of one core for kernels at 512 x 512 x 512 on the
// virtual GPU, with nothing observed, with all counts, and under all checks. The smallest of
// several runs counts. docs/counts.md shows the table; tools/tables/update_tables.py makes it of
// the file.
//
//   observer_cost > results/calibration/observer_cost.json
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>

#include "device/virtual/virtual_device.h"
#include "lab/record/record.h"
#include "lab/verify/prepared_call.h"
#include "tests/kernels/gemms.h"

namespace tessera {
namespace {

using lab::Json;

constexpr int kRepeats = 5;
constexpr int kSize = 512;

double cpu_seconds(const std::function<void()>& work) {
  double best = 0;
  for (int r = 0; r < kRepeats; ++r) {
    const std::clock_t begin = std::clock();
    work();
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    if (r == 0 || seconds < best) best = seconds;
  }
  return best;
}

// `run` works on a device that observes this.
Json row(const std::string& name,
         const std::function<void(Device&, const vgpu::Observation&)>& run) {
  const auto device = make_virtual_device({.host_threads = 1});
  const auto seconds = [&](const vgpu::Observation& observation) {
    const double taken = cpu_seconds([&] {
      run(*device, observation);
      device->take_counts();
    });
    std::fprintf(stderr, "%s %.4f s\n", name.c_str(), taken);
    return taken;
  };
  return {{"kernel", name},
          {"nothing", seconds({})},
          {"counts", seconds({.memory = true})},
          {"checks", seconds({.checks = true})}};
}

Json rung_row(const char* kernel) {
  const KernelChoice choice = choose_kernels(kernel)[0];
  Problem given;
  given.m = given.n = given.k = kSize;
  given.types = choice.kernel->types;
  const Problem problem = with_default_ld(given);
  return row(choice.kernel->name, [&](Device& device, const vgpu::Observation& observation) {
    const lab::PreparedCall call(device, choice, problem, {});
    const Bytes zeros(std::size_t{kSize} * kSize * size_of(problem.types.a));
    const DeviceBytes a(device, zeros), b(device, zeros), c(device, zeros), d(device, zeros);
    observe(device, observation);
    call.run({a.address(), b.address(), c.address(), d.address()});
    device.synchronize();
    observe(device, {});
  });
}

void measure() {
  Json rows = Json::array();
  for (const char* kernel : {"02", "05", "11", "12", "24"}) rows.push_back(rung_row(kernel));
  rows.push_back(row("hopper_gemm", [](Device& device, const vgpu::Observation& observation) {
    run_gemm(device, hopper_gemm(), {kSize, kSize, kSize}, observation);
  }));
  const auto device = make_virtual_device({.host_threads = 1});
  const Json file = {{"schema", "tessera.observer_cost/1"},
                     {"environment", lab::to_json(lab::describe_environment(*device))},
                     {"size", kSize},
                     {"cpu_seconds", rows}};
  std::printf("%s\n", file.dump(1).c_str());
}

}  // namespace
}  // namespace tessera

int main() { tessera::measure(); }
