// Reads clocks, power and temperature of the GPU through NVML, if the driver includes it.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace tessera::lab {

struct Telemetry {
  int sm_clock_mhz = 0, memory_clock_mhz = 0, max_sm_clock_mhz = 0;
  double power_w = 0, power_limit_w = 0;
  int temperature_c = 0;
};

class Nvml {
 public:
  // Returns null if there is no NVML or no such GPU; an empty id means NVML's first GPU. WHY by the
  // PCI bus id: NVML numbers the GPUs in another order than the driver.
  static std::unique_ptr<Nvml> load(const std::string& pci_bus_id);
  virtual ~Nvml() = default;
  virtual std::string driver_version() const = 0;
  virtual std::optional<Telemetry> read() const = 0;
  // Returns the joules since the driver was loaded. The GPU updates the number some ten times a
  // second.
  virtual std::optional<double> joules() const = 0;
};

}  // namespace tessera::lab
