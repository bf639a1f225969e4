// The state that measuring commands share once their options are read: devices, the vendor's
// library, the environment of a record, and the command that repeats it.
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
  std::unique_ptr<Device> fallback;  // the virtual GPU, next to a real one that was not asked for
  std::string note;                  // why there is no GPU, if none was asked for

  // The word of --device for the device of this record.
  std::string word_of(const lab::Record& record) const;
  bool is_cuda() const { return device->info().kind == DeviceKind::kCuda; }
};

// "virtual", "cuda", "cuda:1": what --device says for a device.
std::string word_of(const DeviceInfo& info);
// The GPU that --device names, the first one for "cuda"; nullopt where it names none.
std::optional<int> gpu_number_of(const std::string& device);

// The virtual GPU of these options, whatever device they name.
std::unique_ptr<Device> open_virtual(const DeviceOptions& options);
// Throws StatusError when the device asked for cannot be had.
Devices open_devices(const DeviceOptions& options);

// Lets the virtual GPU count sectors, wavefronts and the footprint of every launch to come.
void count_memory(Devices& devices);

struct Baseline {
  std::unique_ptr<lab::Vendor> vendor;  // null: none
  std::string description;              // its version, or why there is none
};

// Throws only when --vendor-lib was given and cannot be used.
Baseline load_baseline(const DeviceOptions& options, Devices& devices);

std::uint64_t parse_seed(const std::string& text);  // 1 when empty

// The environment part of a JSON file.
lab::Environment environment_of(const Devices& devices, const Baseline& baseline,
                                std::uint64_t seed);

// The table with each record's command as a last column, for files.
Table with_commands(Table table, const std::vector<lab::Record>& records);

// "Again: tessera bench ..." for the text below a table; empty without records.
std::string again_line(const std::vector<lab::Record>& records);

}  // namespace tessera::cli
