#include "cli/options/session.h"

#include <fmt/format.h>

#include "base/numbers.h"
#include "cli/command.h"
#include "cli/options/fields.h"
#include "cli/version.h"
#include "device/cuda/cuda_device.h"
#include "device/virtual/virtual_device.h"

namespace tessera::cli {
namespace {

std::unique_ptr<Device> open_cuda_or_explain(int number, const std::string& asked) {
  try {
    return make_cuda_device(number);
  } catch (const StatusError& error) {
    throw StatusError({error.status().code,
                       fmt::format("--device is '{}', but must be a device that is there: {}",
                                   asked, error.what())});
  }
}

}  // namespace

std::string Devices::word_of(const lab::Record& record) const {
  const bool on_device = record.device == device->info().name;
  return on_device ? cli::word_of(device->info()) : "virtual";
}

std::string word_of(const DeviceInfo& info) {
  if (info.kind == DeviceKind::kVirtual) return "virtual";
  return info.index == 0 ? "cuda" : fmt::format("cuda:{}", info.index);
}

std::optional<int> gpu_number_of(const std::string& device) {
  if (device == "cuda") return 0;
  if (!device.starts_with("cuda:")) return std::nullopt;
  return static_cast<int>(parse_integer("the number of --device", device.substr(5), 0, 1000000));
}

std::unique_ptr<Device> open_virtual(const DeviceOptions& options) {
  VirtualDeviceOptions settings;
  settings.host_threads = host_threads_of(options);
  if (!options.sms.empty()) {
    settings.sms = static_cast<int>(parse_integer("--sms", options.sms, 1, 100000));
  }
  return make_virtual_device(settings);
}

Devices open_devices(const DeviceOptions& options) {
  Devices devices;
  host_threads_of(options);  // WHY: refuses a bad number also on a machine with a GPU
  if (options.device == "virtual") {
    devices.device = open_virtual(options);
  } else if (const std::optional<int> number = gpu_number_of(options.device)) {
    devices.device = open_cuda_or_explain(*number, options.device);
  } else if (options.device.empty()) {
    try {
      devices.device = make_cuda_device();
      devices.fallback = open_virtual(options);
    } catch (const StatusError& error) {
      devices.note = in_options(error.what());
      devices.device = open_virtual(options);
    }
  } else {
    throw StatusError(Status::bad_argument(
        fmt::format("--device is '{}', but must be cuda or virtual, or cuda:N for GPU number N",
                    options.device)));
  }
  return devices;
}

void count_memory(Devices& devices) {
  vgpu::Observation observation;
  observation.memory = true;
  for (Device* device : {devices.device.get(), devices.fallback.get()}) {
    if (device) observe(*device, observation);
  }
}

Baseline load_baseline(const DeviceOptions& options, Devices& devices) {
  if (!options.vendor_library.empty() && !devices.is_cuda()) {
    throw StatusError(Status::bad_argument(
        fmt::format("--vendor-lib is '{}', but must not be given without a GPU: the vendor's "
                    "library does not run on the virtual one; leave it out",
                    options.vendor_library)));
  }
  if (!devices.is_cuda()) return {nullptr, "none: the virtual GPU has no vendor library"};
  try {
    lab::VendorOptions settings;
    settings.library = options.vendor_library;
    Baseline baseline{lab::Vendor::load(*devices.device, settings), ""};
    baseline.description = baseline.vendor->version();
    return baseline;
  } catch (const StatusError& error) {
    if (!options.vendor_library.empty()) throw;
    return {nullptr, fmt::format("none: {}", in_options(error.what()))};
  }
}

std::uint64_t parse_seed(const std::string& text) {
  return text.empty() ? 1 : static_cast<std::uint64_t>(parse_integer("--seed", text));
}

lab::Environment environment_of(const Devices& devices, const Baseline& baseline,
                                std::uint64_t seed) {
  lab::Environment environment = lab::describe_environment(*devices.device);
  environment.version = kVersion;
  environment.commit = build_commit();
  environment.vendor = baseline.description;
  environment.command = command_line();
  environment.seed = seed;
  return environment;
}

Table with_commands(Table table, const std::vector<lab::Record>& records) {
  table.header.emplace_back("command");
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].push_back(records.at(i).command);
  }
  return table;
}

std::string again_line(const std::vector<lab::Record>& records) {
  if (records.empty()) return "";
  return fmt::format("\nThe last row again: {}\n", records.back().command);
}

}  // namespace tessera::cli
