#include "lab/timing/nvml.h"

#include <dlfcn.h>

#include <array>

namespace tessera::lab {
namespace {

// The few functions of NVML that we call; 0 is success.
using DeviceHandle = void*;
constexpr int kSmClock = 1, kMemoryClock = 2, kGpuTemperature = 0;

struct Library {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*handle_by_index)(unsigned, DeviceHandle*) = nullptr;
  int (*handle_by_bus_id)(const char*, DeviceHandle*) = nullptr;
  int (*clock)(DeviceHandle, int, unsigned*) = nullptr;
  int (*max_clock)(DeviceHandle, int, unsigned*) = nullptr;
  int (*power)(DeviceHandle, unsigned*) = nullptr;        // milliwatts
  int (*power_limit)(DeviceHandle, unsigned*) = nullptr;  // milliwatts
  int (*temperature)(DeviceHandle, int, unsigned*) = nullptr;
  int (*energy)(DeviceHandle, unsigned long long*) = nullptr;  // millijoules; may be missing
  int (*driver_version)(char*, unsigned) = nullptr;
};

template <class Function>
bool bind(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool bind_all(void* handle, Library& lib) {
  bind(handle, "nvmlDeviceGetTotalEnergyConsumption", lib.energy);
  return bind(handle, "nvmlInit_v2", lib.init) && bind(handle, "nvmlShutdown", lib.shutdown) &&
         bind(handle, "nvmlDeviceGetHandleByIndex_v2", lib.handle_by_index) &&
         bind(handle, "nvmlDeviceGetHandleByPciBusId_v2", lib.handle_by_bus_id) &&
         bind(handle, "nvmlDeviceGetClockInfo", lib.clock) &&
         bind(handle, "nvmlDeviceGetMaxClockInfo", lib.max_clock) &&
         bind(handle, "nvmlDeviceGetPowerUsage", lib.power) &&
         bind(handle, "nvmlDeviceGetEnforcedPowerLimit", lib.power_limit) &&
         bind(handle, "nvmlDeviceGetTemperature", lib.temperature) &&
         bind(handle, "nvmlSystemGetDriverVersion", lib.driver_version);
}

class LoadedNvml : public Nvml {
 public:
  LoadedNvml(const Library& lib, DeviceHandle device) : lib_(lib), device_(device) {}
  ~LoadedNvml() override { lib_.shutdown(); }

  std::string driver_version() const override {
    std::array<char, 96> text{};
    return lib_.driver_version(text.data(), text.size()) == 0 ? text.data() : "";
  }

  std::optional<Telemetry> read() const override {
    unsigned sm = 0, memory = 0, max_sm = 0, power = 0, limit = 0, celsius = 0;
    const bool ok = lib_.clock(device_, kSmClock, &sm) == 0 &&
                    lib_.clock(device_, kMemoryClock, &memory) == 0 &&
                    lib_.max_clock(device_, kSmClock, &max_sm) == 0 &&
                    lib_.power(device_, &power) == 0 && lib_.power_limit(device_, &limit) == 0 &&
                    lib_.temperature(device_, kGpuTemperature, &celsius) == 0;
    if (!ok) return std::nullopt;
    return Telemetry{
        static_cast<int>(sm), static_cast<int>(memory), static_cast<int>(max_sm), power * 1e-3,
        limit * 1e-3,         static_cast<int>(celsius)};
  }

  std::optional<double> joules() const override {
    unsigned long long millijoules = 0;
    if (!lib_.energy || lib_.energy(device_, &millijoules) != 0) return std::nullopt;
    return static_cast<double>(millijoules) * 1e-3;
  }

 private:
  Library lib_;
  DeviceHandle device_;
};

}  // namespace

std::unique_ptr<Nvml> Nvml::load(const std::string& pci_bus_id) {
  void* handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  Library lib;
  if (!handle || !bind_all(handle, lib) || lib.init() != 0) return nullptr;
  DeviceHandle device = nullptr;
  const int result = pci_bus_id.empty() ? lib.handle_by_index(0, &device)
                                        : lib.handle_by_bus_id(pci_bus_id.c_str(), &device);
  if (result != 0) {
    lib.shutdown();
    return nullptr;
  }
  return std::make_unique<LoadedNvml>(lib, device);
}

}  // namespace tessera::lab
