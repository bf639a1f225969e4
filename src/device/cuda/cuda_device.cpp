// Runs kernels on a real GPU: one context, the streams of its caller, modules by image name.
#include "device/cuda/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <vector>

#include "device/cuda/device_class.h"

namespace tessera::cuda {
namespace {

// The release of the driver's kernel module, "580.159.04"; the driver API itself only reports the
// CUDA release.
std::string driver_release(const Driver& driver) {
  std::string release;
  std::ifstream("/sys/module/nvidia/version") >> release;
  return release.empty() ? release_name(driver.version) : release;
}

DeviceInfo info_of(const Driver& driver, DeviceOrdinal gpu, int index) {
  const auto attribute = [&](Attribute which) {
    int value = 0;
    check(driver, "cuDeviceGetAttribute", driver.device_get_attribute(&value, which, gpu));
    return value;
  };
  std::array<char, 256> name{};
  check(driver, "cuDeviceGetName", driver.device_get_name(name.data(), name.size() - 1, gpu));
  std::size_t bytes = 0;
  check(driver, "cuDeviceTotalMem_v2", driver.device_total_mem(&bytes, gpu));
  std::array<char, 32> bus{};
  check(driver, "cuDeviceGetPCIBusId",
        driver.device_get_pci_bus_id(bus.data(), bus.size() - 1, gpu));
  return {.kind = DeviceKind::kCuda,
          .name = name.data(),
          .sm = 10 * attribute(kComputeCapabilityMajor) + attribute(kComputeCapabilityMinor),
          .sms = attribute(kMultiprocessorCount),
          .memory_bytes = static_cast<std::int64_t>(bytes),
          .l2_bytes = attribute(kL2CacheSize),
          .clock_khz = attribute(kClockRate),
          .driver = driver_release(driver),
          .index = index,
          .pci_bus_id = bus.data()};
}

}  // namespace

void CudaDevice::read_info() { info_ = info_of(driver_, context_.gpu(), context_.index()); }

// WHY results are ignored: after a fault of a kernel, every call reports the kernel's fault.
void CudaDevice::close() noexcept {
  if (!context_.get()) return;
  const InContext context(driver_, context_.get());
  if (context.result() != kSuccess) return;  // the owner has destroyed the context and all it held
  for (Event event : marks_) driver_.event_destroy(event);
  modules_.unload();
  if (own_stream_) driver_.stream_destroy(own_stream_);
}

DeviceAddress CudaDevice::allocate(std::size_t bytes) {
  if (bytes == 0) return 0;
  const Entered context(driver_, context_);
  const RelaxedCapture relaxed(driver_);
  DevicePointer address = 0;
  const Result result = driver_.mem_alloc(&address, bytes);
  if (result == kOutOfMemory) {
    std::size_t free_bytes = 0, total = 0;
    driver_.mem_get_info(&free_bytes, &total);
    throw OutOfMemory(
        fmt::format("not enough device memory: {} bytes asked, {} of {} bytes free on {} "
                    "(cuMemAlloc_v2); choose a smaller problem or free memory",
                    bytes, free_bytes, total, info_.name));
  }
  call("cuMemAlloc_v2", result);
  return address;
}

void CudaDevice::free(DeviceAddress address) {
  if (!address) return;
  const Entered context(driver_, context_);
  const RelaxedCapture relaxed(driver_);
  call("cuMemFree_v2", driver_.mem_free(address));
}

void CudaDevice::copy_in(DeviceAddress to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const Entered context(driver_, context_);
  call("cuMemcpyHtoDAsync_v2", driver_.memcpy_htod_async(to, from, bytes, own_stream_));
  synchronize(nullptr);
}

void CudaDevice::copy_out(void* to, DeviceAddress from, std::size_t bytes) {
  if (bytes == 0) return;
  const Entered context(driver_, context_);
  call("cuMemcpyDtoHAsync_v2", driver_.memcpy_dtoh_async(to, from, bytes, own_stream_));
  synchronize(nullptr);
}

LoadedImage CudaDevice::load(const CodeImage& image) {
  const Entered context(driver_, context_);
  const RelaxedCapture relaxed(driver_);
  return modules_.load(image, info_.sm);
}

LoadedEntry CudaDevice::entry(const LoadedImage& image, const std::string& name,
                              const LaunchShape& shape) {
  const Entered context(driver_, context_);
  const RelaxedCapture relaxed(driver_);
  return {reinterpret_cast<std::uint64_t>(&modules_.entry(image, name, shape))};
}

void CudaDevice::launch(const LoadedEntry& loaded, const LaunchShape& shape,
                        std::span<const std::byte> params, std::span<const std::size_t> offsets,
                        void* given) const {
  const Entered context(driver_, context_);
  const Entry& entry = *reinterpret_cast<const Entry*>(loaded.handle);
  const StreamHandle stream = stream_of(given);
  // The driver copies the parameters before the call returns.
  auto* first = const_cast<std::byte*>(params.data());
  std::size_t bytes = params.size();
  std::array<void*, 5> block = {reinterpret_cast<void*>(kParamBuffer), first,
                                reinterpret_cast<void*>(kParamBufferSize), &bytes,
                                reinterpret_cast<void*>(kParamEnd)};
  if (offsets.empty()) {
    return launch_with(entry, shape, stream, nullptr, bytes != 0 ? block.data() : nullptr);
  }
  // HW: ptxas aligns a parameter of 64 bytes by its address in the constant bank, where the first
  // parameter is at 0x210 (sm_90), so only the driver knows where each of several parameters is.
  // The driver counts the parameters itself; a fake driver looks for the null at the end.
  if (offsets.size() == 1) {
    std::array<void*, 2> one = {first + offsets[0], nullptr};
    return launch_with(entry, shape, stream, one.data(), nullptr);
  }
  std::vector<void*> each;
  for (const std::size_t offset : offsets) each.push_back(first + offset);
  each.push_back(nullptr);
  launch_with(entry, shape, stream, each.data(), nullptr);
}

void CudaDevice::launch_with(const Entry& entry, const LaunchShape& shape, StreamHandle stream,
                             void** list, void** extra) const {
  if (shape.cluster[0] != 0 || shape.starts_early) {
    return launch_extended(entry, shape, stream, list, extra);
  }
  check_launch(
      "cuLaunchKernel ", entry,
      driver_.launch_kernel(
          entry.function, static_cast<unsigned>(shape.grid), static_cast<unsigned>(shape.grid_y),
          static_cast<unsigned>(shape.grid_z), static_cast<unsigned>(shape.block),
          static_cast<unsigned>(shape.block_y), static_cast<unsigned>(shape.block_z),
          static_cast<unsigned>(shape.shared_bytes), stream, list, extra));
}

// WHY: the name is built only for an error message; calls should take less than a microsecond.
void CudaDevice::check_launch(const char* name, const Entry& entry, Result result) const {
  if (result != kSuccess) call(name + entry.name, result);
}

// Makes launches that need attributes: clusters, and grids that may start before the previous grid
// has ended.
void CudaDevice::launch_extended(const Entry& entry, const LaunchShape& shape, StreamHandle stream,
                                 void** list, void** extra) const {
  std::array<LaunchAttribute, 2> attributes;
  unsigned count = 0;
  if (shape.cluster[0] != 0) {
    attributes[count].id = LaunchAttribute::kClusterDimension;
    std::copy(std::begin(shape.cluster), std::end(shape.cluster), attributes[count].value);
    ++count;
  }
  if (shape.starts_early) {
    attributes[count].id = LaunchAttribute::kProgrammaticStreamSerialization;
    attributes[count++].value[0] = 1;
  }
  LaunchConfig config{{static_cast<unsigned>(shape.grid), static_cast<unsigned>(shape.grid_y),
                       static_cast<unsigned>(shape.grid_z)},
                      {static_cast<unsigned>(shape.block), static_cast<unsigned>(shape.block_y),
                       static_cast<unsigned>(shape.block_z)},
                      static_cast<unsigned>(shape.shared_bytes),
                      stream,
                      attributes.data(),
                      count};
  check_launch("cuLaunchKernelEx ", entry,
               driver_.launch_kernel_ex(&config, entry.function, list, extra));
}

void CudaDevice::replace_address(std::span<std::byte, 128> map, DeviceAddress address) const {
  // HW: the driver refuses this call in a thread without a context (580.159.04).
  const Entered context(driver_, context_);
  const Result result =
      driver_.tensor_map_replace_address(map.data(), reinterpret_cast<void*>(address));
  if (result != kSuccess) call("cuTensorMapReplaceAddress", result);
}

TensorMapBytes CudaDevice::encode_tensor_map(const TensorMapDesc& desc) const {
  require(tessera::check(desc));
  const Entered context(driver_, context_);
  TensorMapBytes map;
  call("cuTensorMapEncodeTiled",
       driver_.tensor_map_encode_tiled(
           map.bytes.data(), static_cast<int>(desc.type), static_cast<std::uint32_t>(desc.rank),
           reinterpret_cast<void*>(desc.address), desc.sizes.data(), desc.strides.data(),
           desc.box.data(), desc.element_strides.data(), static_cast<int>(desc.interleave),
           static_cast<int>(desc.swizzle), static_cast<int>(desc.promotion),
           static_cast<int>(desc.fill)));
  return map;
}

void CudaDevice::synchronize(void* stream) {
  const Entered context(driver_, context_);
  call("cuStreamSynchronize", driver_.stream_synchronize(stream_of(stream)));
}

std::uint64_t CudaDevice::record_mark() {
  const Entered context(driver_, context_);
  if (marks_.size() < kLiveMarks) {
    Event event = nullptr;
    call("cuEventCreate", driver_.event_create(&event, 0));
    marks_.push_back(event);
  }
  call("cuEventRecord", driver_.event_record(marks_[next_mark_ % kLiveMarks], own_stream_));
  return next_mark_++;
}

Event CudaDevice::mark(std::uint64_t id) const {
  if (id >= next_mark_ || id + kLiveMarks < next_mark_) {
    throw StatusError(Status::bad_argument(
        fmt::format("mark {} is not among the last {} recorded", id, kLiveMarks)));
  }
  return marks_[id % kLiveMarks];
}

std::optional<double> CudaDevice::milliseconds_between(std::uint64_t begin, std::uint64_t end) {
  const Event first = mark(begin);
  const Event last = mark(end);
  const Entered context(driver_, context_);
  float milliseconds = 0;
  call("cuEventSynchronize", driver_.event_synchronize(last));
  call("cuEventElapsedTime", driver_.event_elapsed_time(&milliseconds, first, last));
  return milliseconds;
}

namespace {

// The destructor restores the context that was current before, if there was such a context.
class ContextOfCaller {
 public:
  explicit ContextOfCaller(const char* library) : driver_(load_driver(library)) {
    check(driver_, "cuCtxGetCurrent", driver_.ctx_get_current(&context_));
  }
  ~ContextOfCaller() {
    if (context_) driver_.ctx_set_current(context_);
  }
  ContextOfCaller(const ContextOfCaller&) = delete;
  ContextOfCaller& operator=(const ContextOfCaller&) = delete;

 private:
  const Driver driver_;
  Context context_ = nullptr;
};

}  // namespace

std::unique_ptr<Device> make_device(const char* library, int index) {
  const ContextOfCaller stays(library);
  return std::make_unique<CudaDevice>(library, ContextIs::kPrimary, index);
}

std::unique_ptr<Device> make_device_in_context(const char* library) {
  return std::make_unique<CudaDevice>(library, ContextIs::kTheCallers, 0);
}

}  // namespace tessera::cuda

namespace tessera {

std::vector<DeviceInfo> list_cuda_devices() {
  const cuda::Driver driver = cuda::load_driver(cuda::kDriverLibrary);
  int count = 0;
  cuda::check(driver, "cuDeviceGetCount", driver.device_get_count(&count));
  std::vector<DeviceInfo> all;
  for (int index = 0; index < count; ++index) {
    cuda::DeviceOrdinal gpu = 0;
    cuda::check(driver, "cuDeviceGet", driver.device_get(&gpu, index));
    all.push_back(cuda::info_of(driver, gpu, index));
  }
  return all;
}

std::unique_ptr<Device> make_cuda_device(int index) {
  return cuda::make_device(cuda::kDriverLibrary, index);
}

std::unique_ptr<Device> make_cuda_device_in_context() {
  return cuda::make_device_in_context(cuda::kDriverLibrary);
}

}  // namespace tessera
