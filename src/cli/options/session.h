// The state that all measuring commands need after their options are read: devices, the vendor's
// library, the environment of a record, and the command that repeats a record.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/options.h"
#include "cli/options/repeat.h"
#include "device/device.h"
#include "device/virtual/observer.h"
#include "lab/bench/bench.h"
#include "lab/record/record.h"
#include "lab/record/report.h"
#include "lab/timing/vendor.h"

namespace tessera::cli {

struct Devices {
  std::unique_ptr<Device> device;
  std::unique_ptr<Device> fallback;  // the virtual GPU, if a GPU was found but not asked for
  std::string note;                  // why there is no GPU, if the user requested no device

  // The word of --device for the device on which this record was made.
  std::string word_of(const lab::Record& record) const;
  bool is_cuda() const { return device->info().kind == DeviceKind::kCuda; }
};

// The word of --device for a device: "virtual", "cuda", "cuda:1".
std::string word_of(const DeviceInfo& info);
// The number of the GPU in --device, 0 for "cuda"; nullopt if --device names no GPU.
std::optional<int> gpu_number_of(const std::string& device);

// Makes a virtual GPU with these options; ignores --device.
std::unique_ptr<Device> open_virtual(const DeviceOptions& options);
// Opens the devices of the options. Throws StatusError if the requested device is not available.
Devices open_devices(const DeviceOptions& options);

// Makes virtual GPUs count sectors, wavefronts and the footprint of every later launch.
void count_memory(Devices& devices);

struct Baseline {
  std::unique_ptr<lab::Vendor> vendor;  // null: no vendor library
  std::string description;              // the library's version, or why it is missing
};

// Loads the vendor's library. Throws only if --vendor-lib is given and cannot be used.
Baseline load_baseline(const DeviceOptions& options, Devices& devices);

std::uint64_t parse_seed(const std::string& text);  // 1 for an empty text

// The environment of the measurements, for a JSON file.
lab::Environment environment_of(const Devices& devices, const Baseline& baseline,
                                std::uint64_t seed);

// The table with each record's command as last column, for files.
Table with_commands(Table table, const std::vector<lab::Record>& records);

// A line for the text below a table, with the command of the last record; empty without records.
std::string again_line(const std::vector<lab::Record>& records);

}  // namespace tessera::cli
