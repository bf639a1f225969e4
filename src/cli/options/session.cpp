#include "cli/options/session.h"

#include <fmt/format.h>

#include "base/numbers.h"
#include "cli/command.h"
#include "cli/version.h"

namespace tessera::cli {
namespace {

std::unique_ptr<Device> open_virtual(const DeviceOptions& options) {
  VirtualDeviceOptions settings;
  settings.host_threads = host_threads_of(options);
  if (!options.sms.empty()) {
    settings.sms = static_cast<int>(parse_integer("--sms", options.sms, 1, 100000));
  }
  return make_virtual_device(settings);
}

std::unique_ptr<Device> open_cuda_or_explain() {
  try {
    return make_cuda_device();
  } catch (const StatusError& error) {
    throw StatusError(
        {error.status().code,
         fmt::format("--device is 'cuda', but must be a device that is there: {}", error.what())});
  }
}

}  // namespace

Devices open_devices(const DeviceOptions& options) {
  Devices devices;
  host_threads_of(options);  // WHY: refuses a bad one on a machine with a GPU, too
  if (options.device == "virtual") {
    devices.device = open_virtual(options);
  } else if (options.device == "cuda") {
    devices.device = open_cuda_or_explain();
  } else if (options.device.empty()) {
    try {
      devices.device = make_cuda_device();
      devices.fallback = open_virtual(options);
    } catch (const StatusError& error) {
      devices.note = error.what();
      devices.device = open_virtual(options);
    }
  } else {
    throw StatusError(Status::bad_argument(
        fmt::format("--device is '{}', but must be cuda or virtual", options.device)));
  }
  return devices;
}

void count_memory(Devices& devices) {
  vgpu::Observation observation;
  observation.memory = true;
  for (Device* device : {devices.device.get(), devices.fallback.get()}) {
    if (device) device->observe(observation);
  }
}

Baseline load_baseline(const DeviceOptions& options, Devices& devices) {
  if (!options.vendor_library.empty() && !devices.is_cuda()) {
    throw StatusError(Status::bad_argument(
        fmt::format("--vendor-lib is '{}', but must not be given without a GPU: the vendor's "
                    "library does not run on the virtual one",
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
    return {nullptr, fmt::format("none: {}", error.what())};
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
