// The virtual device: runs the PTX of an image on vgpu::Machine. A fault of the kernel becomes a
// failed launch; missing memory becomes kUnavailable.
#include "device/virtual/virtual_device.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "launch/code_arch.h"
#include "vgpu/async/tensor_map.h"
#include "vgpu/machine.h"

namespace tessera {
namespace {

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

// The name of the check that finds this fault of a kernel; empty for faults that no kernel
// caused.
std::string_view check_of(vgpu::FaultKind kind) {
  switch (kind) {
    case vgpu::FaultKind::kOutOfBounds:
      return "out-of-bounds";
    case vgpu::FaultKind::kMisaligned:
      return "misaligned";
    case vgpu::FaultKind::kBarrier:
      return "barrier";
    case vgpu::FaultKind::kDeadlock:
      return "deadlock";
    case vgpu::FaultKind::kEndless:
      return "endless";
    case vgpu::FaultKind::kTrap:
      return "trap";
    case vgpu::FaultKind::kAssert:
      return "assert";
    case vgpu::FaultKind::kStopped:
      return "stopped";
    default:
      return "";
  }
}

std::string line_of(const vgpu::FaultPlace& at) {
  if (at.source_line > 0) return "line " + std::to_string(at.source_line);
  return "PTX line " + std::to_string(at.ptx_line);
}

std::string hint_of(vgpu::FaultKind kind, const vgpu::FaultPlace& at) {
  switch (kind) {
    case vgpu::FaultKind::kOutOfBounds:
      return "Check the bound of " + line_of(at) +
             " first; if the access is meant, the array has to be larger.";
    case vgpu::FaultKind::kMisaligned:
      return "Make the address a multiple of the access size: align the array, or use narrower "
             "accesses.";
    case vgpu::FaultKind::kBarrier:
      return "Let every thread that the barrier counts reach the same barrier.";
    case vgpu::FaultKind::kDeadlock:
      return "Find who should have come to the barriers named here, and why it did not; where "
             "none is named, look for the loop whose end never comes.";
    case vgpu::FaultKind::kEndless:
      return "Look for a loop whose end never comes; if it only takes long, let it do less at a "
             "time or store now and then.";
    case vgpu::FaultKind::kTrap:
      return "The kernel asked for it itself: trap.";
    case vgpu::FaultKind::kAssert:
      return "Make what the assertion asks for true, or correct the assertion.";
    default:
      return "";
  }
}

vgpu::Finding finding_of(const vgpu::Fault& fault) {
  const vgpu::FaultPlace& at = fault.place();
  vgpu::Finding finding;
  finding.check = check_of(fault.kind());
  finding.message = fault.message();
  finding.hint = hint_of(fault.kind(), at);
  finding.address = at.address;
  finding.has_address = at.has_address;
  vgpu::FindingPlace place;
  place.what = "stopped here";
  place.form = at.form;
  place.ptx_line = at.ptx_line;
  place.source_file = at.source_file;
  place.source_line = at.source_line;
  place.callers = at.callers;
  place.cta = at.cta;
  place.warp = at.thread < 0 ? -1 : at.thread / 32;
  place.lane = at.thread < 0 ? -1 : at.thread % 32;
  finding.places.push_back(std::move(place));
  finding.related = fault.related();
  if (!fault.hint().empty()) finding.hint = fault.hint();
  return finding;
}

// Calls f; a Fault is rethrown as a StatusError.
template <class F>
auto translated(F f) {
  try {
    return f();
  } catch (const vgpu::Fault& fault) {
    if (!check_of(fault.kind()).empty()) {
      throw LaunchFault(status_of(fault), finding_of(fault), fault.findings());
    }
    throw StatusError(status_of(fault));
  }
}

// Converts the extents of a launch. A negative number becomes a huge number, which the machine
// refuses.
vgpu::Dim3 dim3_of(std::int64_t x, int y, int z) {
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
          static_cast<std::uint32_t>(z)};
}

// Converts a tensor map to the virtual GPU's type, whose enums have the numbers of cuda.h, too.
vgpu::TensorMap map_of(const TensorMapDesc& desc) {
  vgpu::TensorMap map;
  map.type = static_cast<vgpu::MapType>(desc.type);
  map.rank = static_cast<std::uint8_t>(desc.rank);
  map.swizzle = static_cast<vgpu::MapSwizzle>(desc.swizzle);
  map.address = desc.address;
  map.nan_fill = desc.fill == TensorFill::kNans;
  for (std::size_t d = 0; d < static_cast<std::size_t>(desc.rank); ++d) {
    if (d + 1 < static_cast<std::size_t>(desc.rank)) map.strides[d] = desc.strides[d];
    map.sizes[d] = static_cast<std::uint32_t>(desc.sizes[d]);
    map.box[d] = static_cast<std::uint16_t>(desc.box[d]);
    // Without interleaving the innermost dimension has no element stride.
    map.element_strides[d] = static_cast<std::uint8_t>(d == 0 ? 1 : desc.element_strides[d]);
  }
  return map;
}

// The virtual device. It has one lock, because the machine runs one launch at a time, on all its
// host threads.
class Executor final : public VirtualDevice {
  // Calls f under the mutex.
  template <class F>
  auto locked(F f) const {
    const std::lock_guard lock(mutex_);
    return translated(f);
  }

 public:
  Executor(int sm, const VirtualDeviceOptions& options)
      : machine_({.host_threads = options.host_threads,
                  .memory_bytes = options.memory_bytes,
                  .observation = options.observation,
                  .allow_avx512 = options.allow_avx512}) {
    info_.kind = DeviceKind::kVirtual;
    info_.name = "virtual";
    info_.sm = sm;
    info_.sms = options.sms;
    info_.memory_bytes = static_cast<std::int64_t>(machine_.memory_limit());
  }

  const DeviceInfo& info() const override { return info_; }

  DeviceAddress allocate(std::size_t bytes) override {
    return locked([&] { return machine_.allocate(bytes); });
  }
  void free(DeviceAddress address) override {
    locked([&] { machine_.free(address); });
  }
  void copy_in(DeviceAddress to, const void* from, std::size_t bytes) override {
    locked([&] { machine_.write(to, from, bytes); });
  }
  void copy_out(void* to, DeviceAddress from, std::size_t bytes) override {
    locked([&] { machine_.read(to, from, bytes); });
  }

  LoadedImage load(const CodeImage& image) override {
    return locked([&] { return load_once(image); });
  }

  TensorMapBytes encode_tensor_map(const TensorMapDesc& desc) const override {
    require(check(desc));
    if (desc.interleave != TensorInterleave::kNone) {
      throw StatusError(
          Status::unsupported("tensor map: the virtual GPU has no interleaved layouts"));
    }
    return {vgpu::encode(map_of(desc))};
  }

  void replace_address(std::span<std::byte, 128> map, DeviceAddress address) const override {
    vgpu::TensorMap moved;
    std::memcpy(&moved, map.data(), sizeof moved);
    moved.address = address;
    std::memcpy(map.data(), &moved, sizeof moved);
  }

  LoadedEntry entry(const LoadedImage& image, const std::string& name,
                    const LaunchShape& shape) override {
    if (shape.grid < 1 || shape.grid > 0x7fffffff) {
      throw StatusError(Status::bad_argument("a grid of " + std::to_string(shape.grid) +
                                             " thread blocks is out of range, 1 to 2147483647"));
    }
    const std::lock_guard lock(mutex_);
    const std::pair entry(&program_of(image), name);
    const auto known = std::find(entries_.begin(), entries_.end(), entry);
    const auto index = static_cast<std::uint64_t>(known - entries_.begin());
    if (known == entries_.end()) entries_.push_back(entry);
    return {index + 1};
  }

  void launch(const LoadedEntry& entry, const LaunchShape& given, std::span<const std::byte> params,
              std::span<const std::size_t>, void*) const override {
    vgpu::LaunchShape shape;
    shape.grid = dim3_of(given.grid, given.grid_y, given.grid_z);
    shape.block = dim3_of(given.block, given.block_y, given.block_z);
    shape.cluster = dim3_of(given.cluster[0], given.cluster[1], given.cluster[2]);
    shape.shared_bytes = static_cast<std::uint32_t>(given.shared_bytes);
    shape.starts_early = given.starts_early;
    locked([&] {
      const auto& [program, name] = entries_.at(entry.handle - 1);
      counts_.push_back(machine_.launch(*program, name, shape, params));
    });
  }

  void synchronize(void*) override {}
  std::uint64_t record_mark() override { return 0; }
  std::optional<double> milliseconds_between(std::uint64_t, std::uint64_t) override {
    return std::nullopt;
  }

  std::vector<LaunchCounts> take_counts() override {
    return locked([&] { return std::exchange(counts_, {}); });
  }
  void observe(const vgpu::Observation& observation) override {
    locked([&] { machine_.observe(observation); });
  }
  bool is_written(DeviceAddress address, std::size_t bytes) const override {
    return locked([&] { return machine_.is_written(address, bytes); });
  }
  std::vector<vgpu::KernelSignature> kernels(const LoadedImage& image) const override {
    return locked([&] { return vgpu::Machine::signatures(program_of(image)); });
  }
  std::vector<vgpu::ModuleVariable> variables(const LoadedImage& image) const override {
    return locked([&] { return vgpu::Machine::variables(program_of(image)); });
  }

 private:
  LoadedImage load_once(const CodeImage& image) {
    const auto known = loaded_.find(image.name);
    if (known != loaded_.end()) return known->second;
    const Ptx ptx = ptx_of(image);
    programs_.push_back(machine_.load(ptx.text));
    const auto bytes = std::as_bytes(std::span<const char>(ptx.text));
    const LoadedImage loaded{programs_.size(), "ptx " + std::string(ptx.arch) + " (virtual)",
                             bytes};
    loaded_.emplace(image.name, loaded);
    return loaded;
  }

  const vgpu::Program& program_of(const LoadedImage& image) const {
    if (image.handle != 0 && image.handle <= programs_.size()) return *programs_[image.handle - 1];
    throw StatusError(Status::bad_argument("this image was not loaded on this device"));
  }

  struct Ptx {
    std::string_view text, arch;
  };
  // Returns the newest PTX in the image that a GPU of compute capability info_.sm can run.
  Ptx ptx_of(const CodeImage& image) const {
    if (!image.ptx.empty() && ptx_fits(image.cubin_arch, info_.sm)) {
      return {image.ptx, image.cubin_arch};
    }
    if (!image.portable_ptx.empty() && ptx_fits(image.portable_arch, info_.sm)) {
      return {image.portable_ptx, image.portable_arch};
    }
    throw StatusError(Status::unavailable("image " + std::string(image.name) +
                                          " holds no PTX for sm_" + std::to_string(info_.sm) +
                                          ", as which the virtual GPU runs"));
  }

  mutable std::mutex mutex_;
  mutable vgpu::Machine machine_;
  DeviceInfo info_{};
  std::map<std::string, LoadedImage, std::less<>> loaded_;
  std::vector<std::shared_ptr<const vgpu::Program>> programs_;
  std::vector<std::pair<const vgpu::Program*, std::string>> entries_;
  mutable std::vector<LaunchCounts> counts_;
};

}  // namespace

std::unique_ptr<VirtualDevice> make_virtual_device(const VirtualDeviceOptions& options) {
  return make_virtual_gpu(90, options);
}

std::unique_ptr<VirtualDevice> make_virtual_gpu(int sm, const VirtualDeviceOptions& options) {
  return std::make_unique<Executor>(sm, options);
}

}  // namespace tessera
