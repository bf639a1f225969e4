// What the first call for a shape costs the host on a GPU, and what a handle does: problems of the
// drawn suite, each multiplied once by a handle and once by the vendor's library, in random
// order, the GPU idle before each. Every process makes its own handle, so that images are loaded
// anew. A second device object then repeats the call in parts: plan, load, entries, launch.
//   gpu_first_calls [--cells N] [--processes P] [--seed S] [--warm 1] [--json FILE]
// --warm 1: calls tessera_warm_up() for all problems first, at most 128.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

#include "base/numbers.h"
#include "catalog/image_pack.h"
#include "device/cuda/cuda_device.h"
#include "gemm/call/prepare.h"
#include "gemm/overlay/overlay_file.h"
#include "lab/suite/memory.h"
#include "lab/timing/vendor.h"
#include "tests/tools/first_calls/c_problem.h"
#include "tests/tools/first_calls/report.h"
#include "tests/tools/timed_calls.h"

namespace tessera {
namespace {

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

struct Options {
  int cells = 100, processes = 4, warm = 0;
  std::uint64_t seed = 1;
  std::string part, json;  // part: of a process that this program started
};

// Adds up the time that loading and looking up take.
class TimedModules : public Modules {
 public:
  explicit TimedModules(Device& device) : device_(device) {}
  LoadedImage load(const CodeImage& image) override {
    const Clock::time_point begin = Clock::now();
    const LoadedImage loaded = device_.load(image);
    load_us += us_since(begin);
    return loaded;
  }
  LoadedEntry entry(const LoadedImage& image, const std::string& name,
                    const LaunchShape& shape) override {
    const Clock::time_point begin = Clock::now();
    const LoadedEntry found = device_.entry(image, name, shape);
    entry_us += us_since(begin);
    return found;
  }
  TensorMapBytes encode_tensor_map(const TensorMapDesc& desc) const override {
    return device_.encode_tensor_map(desc);
  }
  void replace_address(std::span<std::byte, 128> map, DeviceAddress address) const override {
    device_.replace_address(map, address);
  }

  double load_us = 0, entry_us = 0;

 private:
  Device& device_;
};

gemm::PlanOptions within_vendor_workspace() {
  gemm::PlanOptions options;
  options.workspace_limit = lab::kVendorWorkspace;
  return options;
}

// What unpacking the images of a plan takes. `pack`: no program's own, which is unpacked by now.
double unpacking_us(ImagePack& pack, const gemm::Plan& plan) {
  const Clock::time_point begin = Clock::now();
  for (const gemm::Step& step : plan.steps) {
    pack.find(image_of(*step.kernel, step.launch.entry).name);
  }
  return us_since(begin);
}

// The same call in parts, by a device that has loaded as much as the handle has.
void time_parts(Device& device, ImagePack& pack, const Problem& problem, const Operands& operands,
                DeviceAddress workspace, FirstCall& out) {
  const Clock::time_point begin = Clock::now();
  gemm::Plan plan = gemm::plan(problem, gemm::alignment_of(operands),
                               gemm::tuned_limits_of(device.info()), within_vendor_workspace());
  out.plan_us = us_since(begin);
  out.kernel = plan.row().entry;
  out.unpack_us = unpacking_us(pack, plan);
  TimedModules modules(device);
  const Clock::time_point prepared_at = Clock::now();
  const gemm::Prepared prepared = gemm::prepare(modules, device, std::move(plan));
  out.load_us = modules.load_us;
  out.entry_us = modules.entry_us;
  out.maps_us = us_since(prepared_at) - modules.load_us - modules.entry_us;
  const Clock::time_point launched_at = Clock::now();
  gemm::execute(prepared, {operands, problem.alpha, problem.beta, workspace,
                           prepared.plan().workspace_bytes()});
  out.launch_us = us_since(launched_at);
  device.synchronize(nullptr);
}

double vendor_us(Device& device, lab::Vendor& vendor, const Problem& problem,
                 const Operands& operands) {
  const auto calls = vendor.calls(problem);
  if (calls.empty()) return 0;
  device.synchronize(nullptr);
  const Clock::time_point begin = Clock::now();
  calls.front().call(operands);
  const double us = us_since(begin);
  device.synchronize(nullptr);
  return us;
}

tessera_plan_options c_options() {
  tessera_plan_options options{};
  options.size = sizeof options;
  options.workspace_limit = lab::kVendorWorkspace;
  return options;
}

double our_us(tessera_handle handle, Device& device, const Problem& problem,
              const Operands& operands) {
  const tessera_problem of_c = c_problem(problem);
  const tessera_arguments in = c_arguments(problem, operands, device.native_stream());
  const tessera_plan_options options = c_options();
  device.synchronize(nullptr);
  const Clock::time_point begin = Clock::now();
  demand(tessera_gemm_with(handle, &of_c, &options, &in));
  const double us = us_since(begin);
  device.synchronize(nullptr);
  return us;
}

tessera_handle new_handle() {
  tessera_handle handle = nullptr;
  tessera_place place{};
  place.size = sizeof place;
  demand(tessera_create(&handle, &place));
  return handle;
}

void warm_up(tessera_handle handle, const std::vector<lab::DrawnCell>& cells, void* stream) {
  std::vector<tessera_problem> problems;
  for (const lab::DrawnCell& cell : cells) problems.push_back(c_problem(cell.problem));
  const tessera_plan_options options = c_options();
  const Clock::time_point begin = Clock::now();
  demand(tessera_warm_up(handle, problems.data(), problems.size(), &options, stream));
  std::printf("warm_up_ms %.3f\n", us_since(begin) / 1000);
}

// One process: a line for each cell.
void first_calls(const Options& options) {
  const auto device = make_cuda_device(0), parts = make_cuda_device(0);
  const auto vendor = lab::Vendor::load(*device);
  std::printf("gpu %s\ndriver %s\nvendor %s\n", device->info().name.c_str(),
              device->info().driver.c_str(), vendor->version().c_str());
  const auto pack = load_images(std::filesystem::read_symlink("/proc/self/exe").parent_path());
  lab::SuiteMemory memory(*device, options.seed);
  const DeviceBuffer workspace(*device, lab::kVendorWorkspace);
  std::mt19937_64 random(options.seed);
  const tessera_handle handle = new_handle();
  const std::vector<lab::DrawnCell> cells = lab::draw_suite(options.seed, options.cells);
  if (options.warm != 0) warm_up(handle, cells, device->native_stream());
  for (const lab::DrawnCell& cell : cells) {
    FirstCall one;
    try {
      const lab::CellOperands operands = memory.operands(cell);
      const bool vendor_first = random() % 2 == 0;
      if (vendor_first) one.vendor_us = vendor_us(*device, *vendor, cell.problem, operands[0]);
      one.total_us = our_us(handle, *device, cell.problem, operands[0]);
      if (!vendor_first) one.vendor_us = vendor_us(*device, *vendor, cell.problem, operands[0]);
      time_parts(*parts, *pack, cell.problem, operands[0], workspace.address(), one);
    } catch (const StatusError& error) {
      std::fprintf(stderr, "cell %d is left out: %s\n", cell.number, error.what());
      continue;
    }
    std::printf("%s\n", line_of(one).c_str());
  }
  demand(tessera_destroy(handle));
}

// One process: a context as any program makes it, and then what a handle takes.
void handle_after_context() {
  const Clock::time_point begin = Clock::now();
  const auto device = make_cuda_device(0);  // retains the primary context, and makes a stream
  const double context_ms = us_since(begin) / 1000;
  const Clock::time_point created = Clock::now();
  const tessera_handle handle = new_handle();
  std::printf("context_ms %.3f\nhandle_ms %.3f\n", context_ms, us_since(created) / 1000);
  const Clock::time_point ended = Clock::now();
  demand(tessera_destroy(handle));
  std::printf("destroy_ms %.3f\n", us_since(ended) / 1000);
  const Clock::time_point vendor = Clock::now();
  lab::Vendor::load(*device);
  std::printf("vendor_ms %.3f\n", us_since(vendor) / 1000);
}

void handle_alone() {
  const Clock::time_point begin = Clock::now();
  const tessera_handle handle = new_handle();
  std::printf("alone_ms %.3f\n", us_since(begin) / 1000);
  demand(tessera_destroy(handle));
}

// The lines that this program prints for one part, in a process of its own.
std::string printed_by(const Options& options, const std::string& part, std::uint64_t seed) {
  const std::string command = fmt::format("/proc/{}/exe --part {} --cells {} --seed {} --warm {}",
                                          getpid(), part, options.cells, seed, options.warm);
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) throw StatusError(Status::failed("cannot start " + command));
  std::string text;
  for (char buffer[4096]; const std::size_t got = fread(buffer, 1, sizeof buffer, pipe);) {
    text.append(buffer, got);
  }
  if (pclose(pipe) != 0) throw StatusError(Status::failed(command + " failed"));
  return text;
}

int run(const Options& options) {
  FirstCallsReport report;
  for (int i = 0; i < options.processes; ++i) {
    for (const char* part : {"calls", "context", "alone"}) {
      report.add(printed_by(options, part, options.seed + static_cast<std::uint64_t>(i)));
    }
  }
  std::printf("%s", report.text().c_str());
  if (options.json.empty()) return 0;
  const std::string command =
      fmt::format("build/gpu_first_calls --cells {} --processes {} --seed {} --warm {}",
                  options.cells, options.processes, options.seed, options.warm);
  std::ofstream(options.json) << report.json(command, own_images().origin().commit);
  return 0;
}

int run_part(const Options& options) {
  if (options.part == "calls") first_calls(options);
  if (options.part == "context") handle_after_context();
  if (options.part == "alone") handle_alone();
  return 0;
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  tessera::Options options;
  try {
    tessera::for_each_option(argc, argv, [&](const std::string& name, const std::string& value) {
      if (name == "--json") return options.json = value, true;
      if (name == "--part") return options.part = value, true;
      const auto number = tessera::parse_integer(name, value, 0);
      if (name == "--cells") return options.cells = static_cast<int>(number), true;
      if (name == "--processes") return options.processes = static_cast<int>(number), true;
      if (name == "--warm") return options.warm = static_cast<int>(number), true;
      if (name == "--seed") return options.seed = static_cast<std::uint64_t>(number), true;
      return false;
    });
    return options.part.empty() ? tessera::run(options) : tessera::run_part(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_first_calls: %s\n", error.what());
    return 1;
  }
}
