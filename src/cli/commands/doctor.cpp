// tessera doctor: says in plain words what this machine has, and what works on it.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "arch/gpus.h"
#include "cli/command.h"
#include "cli/options/fields.h"
#include "cli/options/parser.h"
#include "cli/options/session.h"
#include "cli/terminal/fitted.h"
#include "cli/terminal/live_table.h"
#include "cli/terminal/output.h"
#include "cli/version.h"
#include "device/cuda/cuda_device.h"
#include "device/virtual/virtual_device.h"
#include "lab/data/host_memory.h"
#include "lab/timing/nvml.h"
#include "lab/verify/products.h"
#include "lab/verify/verify.h"

namespace tessera::cli {
namespace {

struct DoctorArguments {
  DeviceOptions device;
  Output output;
};

// A line of the report.
struct Finding {
  std::string what;
  bool works;
  std::string text;
};
using Findings = std::vector<Finding>;

Finding processor() {
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (!avx2) return {"processor", false, "lacks AVX2 or FMA, which the virtual GPU needs"};
  return {"processor", true,
          fmt::format("AVX2 and FMA{}; the virtual GPU takes its {} path",
                      avx512 ? ", AVX-512" : ", no AVX-512", avx512 ? "AVX-512" : "AVX2")};
}

Finding host_memory() {
  return {"host memory", true, fmt::format("{:.1f} GB free", lab::available_host_memory() * 1e-9)};
}

Finding describe_gpu(const Device& device) {
  const DeviceInfo& info = device.info();
  const bool known = arch::find_gpu(info.name) != nullptr;
  return {"GPU", true,
          fmt::format("{}, sm_{}, {} SMs, {:.1f} GB, driver {}{}", info.name, info.sm, info.sms,
                      info.memory_bytes * 1e-9, info.driver,
                      known ? "" : "; its peak rates are not in our table, so no share of peak")};
}

// How many kernels this GPU and its driver can load.
Finding images_on(Device& device) {
  int loaded = 0;
  std::string first_reason;
  for (const Kernel& kernel : all_kernels()) {
    try {
      device.load(image_of(kernel, kernel.rows.front().entry));
      ++loaded;
    } catch (const StatusError& error) {
      if (first_reason.empty()) first_reason = in_options(error.what());
    }
  }
  const auto count = static_cast<int>(all_kernels().size());
  return {"kernel images", loaded == count,
          fmt::format(
              "{} of {} load on this GPU{}{}", loaded, count,
              first_reason.empty() ? "" : "; the others run on the virtual GPU: ", first_reason)};
}

// The first line with `word` in the output of a command; empty if there is none.
std::string line_of(const std::string& command, const std::string& word) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::array<char, 512> line{};
  while (pipe && std::fgets(line.data(), line.size(), pipe.get())) {
    if (std::string_view(line.data()).find(word) != std::string_view::npos) return line.data();
  }
  return "";
}

// The release of nvcc on PATH or in the usual folder. nvcc is needed to build, but not to run.
Finding toolkit() {
  for (const char* nvcc : {"nvcc", "/usr/local/cuda/bin/nvcc"}) {
    const std::string line = line_of(fmt::format("{} --version 2>/dev/null", nvcc), "release ");
    if (line.empty()) continue;
    const std::size_t at = line.find("release ");
    const std::string release = line.substr(at, line.find(',', at) - at);
    const bool right = release == "release 13.0";
    return {"CUDA compiler", right,
            fmt::format("{}, {}{}", nvcc, release,
                        right ? "" : "; building takes 13.0 and fetches its own")};
  }
  return {"CUDA compiler", false, "no nvcc found; building fetches its own, running needs none"};
}

Finding openblas() {
  if (const lab::OpenBlas* blas = lab::OpenBlas::load()) {
    return {"OpenBLAS", true, blas->version()};
  }
  return {"OpenBLAS", false,
          "cannot be loaded; our own, slower reference stands in (Debian: libopenblas0)"};
}

// The first library in `names` that can be loaded.
Finding library(const std::string& what, const std::vector<const char*>& names,
                const std::string& without) {
  for (const char* name : names) {
    if (void* handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {
      dlclose(handle);
      return {what, true, name};
    }
  }
  return {what, false, fmt::format("cannot be loaded; {}", without)};
}

Finding vendor(Devices& devices, const DeviceOptions& options) {
  const Baseline baseline = load_baseline(options, devices);
  return {"vendor baseline", baseline.vendor != nullptr, baseline.description};
}

// The telemetry of the GPU with this bus address; of any GPU if the address is empty.
Finding telemetry(const std::string& pci_bus_id) {
  const auto nvml = lab::Nvml::load(pci_bus_id);
  if (!nvml) return {"NVML", false, "cannot be loaded; records hold no clocks and no power"};
  return {"NVML", true, fmt::format("driver {}", nvml->driver_version())};
}

// Runs and verifies one kernel with sizes that do not fit its tiles.
Finding self_test(const std::string& what, Device& device) {
  const KernelChoice kernel = choose_kernels("all").front();
  Problem problem;
  problem.m = 33;
  problem.n = 17;
  problem.k = 5;
  problem.types = kernel.kernel->types;
  try {
    const lab::VerifyResult result = lab::verify(device, kernel, with_default_ld(problem));
    return {what, result.ok(),
            result.ok() ? fmt::format("{} at 33x17x5 is right ({})", kernel.kernel->name,
                                      result.image.description)
                        : result.reason};
  } catch (const StatusError& error) {
    return {what, false, in_options(error.what())};
  }
}

// Adds findings about the GPU, and returns its bus address; empty without a GPU.
std::string look_at_gpu(const DeviceOptions& options, Findings& findings) {
  try {
    Devices devices{make_cuda_device(gpu_number_of(options.device).value_or(0)), nullptr, ""};
    findings.push_back(describe_gpu(*devices.device));
    findings.push_back(images_on(*devices.device));
    findings.push_back(self_test("a kernel on the GPU", *devices.device));
    findings.push_back(vendor(devices, options));
    return devices.device->info().pci_bus_id;
  } catch (const StatusError& error) {
    findings.push_back({"GPU", false, in_options(error.what())});
    return "";
  }
}

Findings examine(const DoctorArguments& options) {
  Findings findings = {processor(), host_memory()};
  std::string pci_bus_id;
  if (options.device.device != "virtual") pci_bus_id = look_at_gpu(options.device, findings);
  const auto virtual_gpu = make_virtual_device({});
  findings.push_back(self_test("a kernel on the virtual GPU", *virtual_gpu));
  findings.push_back(toolkit());
  findings.push_back(openblas());
  const std::string no_baseline = "no comparison with the vendor's library";
  findings.push_back(
      library("cuBLAS", {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}, no_baseline));
  findings.push_back(library(
      "cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}, no_baseline));
  findings.push_back(telemetry(pci_bus_id));
  return findings;
}

bool works(const Findings& findings, const std::string& what) {
  for (const Finding& finding : findings) {
    if (finding.what == what) return finding.works;
  }
  return false;
}

// One line for the user: what this machine can do.
std::string verdict(const Findings& findings) {
  if (works(findings, "a kernel on the GPU")) {
    return "Everything works: kernels run on the GPU and on the virtual GPU.";
  }
  if (works(findings, "a kernel on the virtual GPU")) {
    return "Kernels run on the virtual GPU: ladder, verify, bench (counts, no times) and multiply "
           "work; times and shares of peak need a GPU.";
  }
  return "Kernels do not run here: see the lines marked 'no'.";
}

// In a terminal that is too narrow for two columns, each result is below its name.
void print(const Findings& findings, std::size_t width) {
  constexpr std::size_t kName = 34, kWords = 30;
  const bool is_narrow = width > 0 && width < kName + kWords;
  for (const Finding& f : findings) {
    const char* const works = f.works ? "yes" : "no";
    if (is_narrow) {
      fmt::print("{:<4} {}\n     {}\n", works, f.what, wrapped(f.text, width, 5));
    } else {
      fmt::print("{:<4} {:<28} {}\n", works, f.what, wrapped(f.text, width, kName));
    }
  }
  fmt::print("\n{}\n", wrapped(verdict(findings), width));
}

int doctor(const DoctorArguments& options) {
  options.output.check();
  if (!options.device.device.empty() && options.device.device != "virtual") {
    open_devices(options.device);
  }
  const Findings findings = examine(options);
  Table table{{"", "what", "found"}, {}};
  lab::Json object = {{"schema", lab::kSchema},
                      {"version", kVersion},
                      {"verdict", verdict(findings)},
                      {"findings", lab::Json::array()}};
  for (const Finding& finding : findings) {
    table.rows.push_back({finding.works ? "yes" : "no", finding.what, finding.text});
    object["findings"].push_back(
        {{"what", finding.what}, {"works", finding.works}, {"found", finding.text}});
  }
  options.output.write(object, table);
  if (options.output.prints_text()) {
    print(findings, terminal_width());
  }
  return works(findings, "a kernel on the virtual GPU") ? kOk : kCheckFailed;
}

}  // namespace

Command doctor_command() {
  return {"doctor", "what this machine has, and what works on it",
          "  tessera doctor\n"
          "  tessera doctor --json -",
          [](Parser& parser) {
            auto options = std::make_shared<DoctorArguments>();
            parser
                .add_option("--device", options->device.device,
                            "virtual: do not look for a GPU; cuda, cuda:N: fail without one")
                .type_name("D");
            add_vendor_option(parser, options->device);
            options->output.add_options(parser);
            return [options] { return doctor(*options); };
          }};
}

}  // namespace tessera::cli
