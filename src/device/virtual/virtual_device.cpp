// The virtual device: the PTX of an image on vgpu::Machine. A fault of the kernel is a failed
// launch; memory that cannot be had is unavailable.
#include <unistd.h>

#include <map>

#include "device/device.h"
#include "vgpu/machine.h"

namespace tessera {
namespace {

std::size_t host_memory() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

Status status_of(const vgpu::Fault& fault) {
  switch (fault.kind()) {
    case vgpu::FaultKind::kOutOfMemory:
      return Status::unavailable(std::string("memory of the virtual GPU: ") + fault.what());
    case vgpu::FaultKind::kUnsupported:
      return Status::unavailable(fault.what());
    default:
      return Status::failed(fault.what());
  }
}

// Calls f; a Fault leaves as StatusError.
template <class F>
auto translated(F f) {
  try {
    return f();
  } catch (const vgpu::Fault& fault) {
    throw StatusError(status_of(fault));
  }
}

class VirtualDevice : public Device {
 public:
  explicit VirtualDevice(const VirtualDeviceOptions& options)
      : machine_({.host_threads = options.host_threads,
                  .memory_bytes = options.memory_bytes,
                  .observation = options.observation,
                  .allow_avx512 = options.allow_avx512}) {
    info_.kind = DeviceKind::kVirtual;
    info_.name = "virtual";
    info_.sm = 90;
    info_.memory_bytes =
        static_cast<std::int64_t>(options.memory_bytes != 0 ? options.memory_bytes : host_memory());
  }

  const DeviceInfo& info() const override { return info_; }

  DeviceAddress allocate(std::size_t bytes) override {
    return translated([&] { return machine_.allocate(bytes); });
  }
  void free(DeviceAddress address) override {
    translated([&] { machine_.free(address); });
  }
  void copy_in(DeviceAddress to, const void* from, std::size_t bytes) override {
    translated([&] { machine_.write(to, from, bytes); });
  }
  void copy_out(void* to, DeviceAddress from, std::size_t bytes) override {
    translated([&] { machine_.read(to, from, bytes); });
  }

  LoadedImage load(const CodeImage& image) override {
    const auto known = handles_.find(std::string(image.name));
    if (known != handles_.end()) return {known->second, kDescription};
    if (image.ptx.empty()) {
      throw StatusError(Status::unavailable("image " + std::string(image.name) +
                                            " holds no PTX, which the virtual GPU runs"));
    }
    programs_.push_back(translated([&] { return machine_.load(image.ptx); }));
    handles_.emplace(image.name, programs_.size());
    return {programs_.size(), kDescription};
  }

  void launch(const LoadedImage& image, const Launch& launch) override {
    if (image.handle == 0 || image.handle > programs_.size()) {
      throw StatusError(Status::bad_argument("this image was not loaded on this device"));
    }
    if (launch.shape.grid < 1 || launch.shape.grid > 0x7fffffff) {
      throw StatusError(Status::bad_argument("a grid of " + std::to_string(launch.shape.grid) +
                                             " thread blocks is out of range, 1 to 2147483647"));
    }
    vgpu::LaunchShape shape;
    shape.grid.x = static_cast<std::uint32_t>(launch.shape.grid);
    shape.block.x = static_cast<std::uint32_t>(launch.shape.block);
    shape.block.y = static_cast<std::uint32_t>(launch.shape.block_y);
    shape.shared_bytes = static_cast<std::uint32_t>(launch.shape.shared_bytes);
    const vgpu::Program& program = *programs_[image.handle - 1];
    counts_.push_back(
        translated([&] { return machine_.launch(program, launch.entry, shape, launch.params); }));
  }

  void synchronize() override {}
  std::uint64_t record_mark() override { return 0; }
  std::optional<double> milliseconds_between(std::uint64_t, std::uint64_t) override {
    return std::nullopt;
  }
  void observe(const vgpu::Observation& observation) override { machine_.observe(observation); }
  std::vector<LaunchCounts> take_counts() override { return std::exchange(counts_, {}); }

 private:
  static constexpr const char* kDescription = "ptx sm_90a (virtual)";

  vgpu::Machine machine_;
  DeviceInfo info_{};
  std::map<std::string, std::uint64_t> handles_;
  std::vector<std::shared_ptr<const vgpu::Program>> programs_;
  std::vector<LaunchCounts> counts_;
};

}  // namespace

std::unique_ptr<Device> make_virtual_device(const VirtualDeviceOptions& options) {
  return std::make_unique<VirtualDevice>(options);
}

}  // namespace tessera
