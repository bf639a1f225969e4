// Runs kernels on a real GPU: one primary context, one stream, modules by image name.
#include "device/cuda/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <map>
#include <vector>

#include "device/cuda/driver.h"
#include "device/cuda/modules.h"

namespace tessera::cuda {
namespace {

// Marks older than this many are forgotten, so that a long run does not pile up events.
constexpr std::size_t kLiveMarks = 4096;

// "580.159.04", from the kernel module; the driver API itself only tells the CUDA release.
std::string driver_release(const Driver& driver) {
  std::string release;
  std::ifstream("/sys/module/nvidia/version") >> release;
  return release.empty() ? release_name(driver.version) : release;
}

class CudaDevice final : public Device {
 public:
  // WHY: delegates, so that the destructor gives the context back when a later step throws.
  explicit CudaDevice(const char* library) : CudaDevice(load_driver(library)) {
    open_first_gpu();
    read_info();
    call("cuStreamCreate", driver_.stream_create(&stream_, 0));
  }
  ~CudaDevice() override { close(); }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const DeviceInfo& info() const override { return info_; }
  void* native_stream() const override { return stream_; }

  DeviceAddress allocate(std::size_t bytes) override;
  void free(DeviceAddress address) override;
  void copy_in(DeviceAddress to, const void* from, std::size_t bytes) override;
  void copy_out(void* to, DeviceAddress from, std::size_t bytes) override;
  LoadedImage load(const CodeImage& image) override;
  TensorMapBytes encode_tensor_map(const TensorMapDesc& desc) override;
  void replace_address(std::span<std::byte, 128> map, DeviceAddress address) const override;
  LoadedEntry entry(const LoadedImage& image, const std::string& name,
                    const LaunchShape& shape) override;
  using Device::launch;
  void launch(const LoadedEntry& entry, const LaunchShape& shape, std::span<const std::byte> params,
              std::span<const std::size_t> offsets, void* stream) override;
  void synchronize() override;
  std::uint64_t record_mark() override;
  std::optional<double> milliseconds_between(std::uint64_t begin, std::uint64_t end) override;
  std::vector<LaunchCounts> take_counts() override { return {}; }

 private:
  explicit CudaDevice(const Driver& driver) : driver_(driver) {}

  struct Entry {
    std::string name;
    Function function = nullptr;
    int dynamic_shared_bytes = 0;  // the largest allowed so far
  };
  struct Image {
    LoadedModule code;
    std::map<std::string, Entry, std::less<>> entries;
  };

  void call(std::string_view name, Result result) const { check(driver_, name, result); }
  int attribute(Attribute which) const;
  void open_first_gpu();
  void read_info();
  void close() noexcept;
  Image& image_of(const LoadedImage& image);
  Entry& entry_of(Image& image, const std::string& name);
  void allow_shared(Entry& entry, int bytes);
  void launch_with(const Entry& entry, const LaunchShape& shape, Stream stream, void** list,
                   void** extra) const;
  void launch_extended(const Entry& entry, const LaunchShape& shape, Stream stream, void** list,
                       void** extra) const;
  void check_launch(const char* name, const Entry& entry, Result result) const;
  Event mark(std::uint64_t id) const;

  Driver driver_;
  DeviceOrdinal gpu_ = 0;
  Context context_ = nullptr;
  Stream stream_ = nullptr;
  DeviceInfo info_{};
  std::vector<Image> images_;  // handle = index + 1
  std::map<std::string, LoadedImage, std::less<>> handles_;
  std::vector<Event> marks_;  // a ring of kLiveMarks
  std::uint64_t next_mark_ = 0;
};

void CudaDevice::open_first_gpu() {
  int count = 0;
  call("cuDeviceGetCount", driver_.device_get_count(&count));
  if (count == 0) check(driver_, "cuDeviceGetCount", kNoDevice);
  call("cuDeviceGet", driver_.device_get(&gpu_, 0));
  call("cuDevicePrimaryCtxRetain", driver_.primary_ctx_retain(&context_, gpu_));
  call("cuCtxSetCurrent", driver_.ctx_set_current(context_));
}

int CudaDevice::attribute(Attribute which) const {
  int value = 0;
  call("cuDeviceGetAttribute", driver_.device_get_attribute(&value, which, gpu_));
  return value;
}

void CudaDevice::read_info() {
  std::array<char, 256> name{};
  call("cuDeviceGetName", driver_.device_get_name(name.data(), name.size() - 1, gpu_));
  std::size_t bytes = 0;
  call("cuDeviceTotalMem_v2", driver_.device_total_mem(&bytes, gpu_));
  info_.kind = DeviceKind::kCuda;
  info_.name = name.data();
  info_.sm = 10 * attribute(kComputeCapabilityMajor) + attribute(kComputeCapabilityMinor);
  info_.sms = attribute(kMultiprocessorCount);
  info_.memory_bytes = static_cast<std::int64_t>(bytes);
  info_.l2_bytes = attribute(kL2CacheSize);
  info_.clock_khz = attribute(kClockRate);
  info_.driver = driver_release(driver_);
}

// WHY: results are ignored. After a fault of a kernel every call reports that same fault.
void CudaDevice::close() noexcept {
  for (Event event : marks_) driver_.event_destroy(event);
  for (const Image& image : images_) driver_.module_unload(image.code.module);
  if (stream_) driver_.stream_destroy(stream_);
  if (context_) driver_.primary_ctx_release(gpu_);
}

DeviceAddress CudaDevice::allocate(std::size_t bytes) {
  if (bytes == 0) return 0;
  DevicePointer address = 0;
  const Result result = driver_.mem_alloc(&address, bytes);
  if (result == kOutOfMemory) {
    std::size_t free_bytes = 0, total = 0;
    driver_.mem_get_info(&free_bytes, &total);
    throw StatusError(Status::unavailable(
        fmt::format("not enough device memory: {} bytes asked, {} of {} bytes free on {} "
                    "(cuMemAlloc_v2); choose a smaller problem or free memory",
                    bytes, free_bytes, total, info_.name)));
  }
  call("cuMemAlloc_v2", result);
  return address;
}

void CudaDevice::free(DeviceAddress address) {
  if (address) call("cuMemFree_v2", driver_.mem_free(address));
}

void CudaDevice::copy_in(DeviceAddress to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  call("cuMemcpyHtoDAsync_v2", driver_.memcpy_htod_async(to, from, bytes, stream_));
  synchronize();
}

void CudaDevice::copy_out(void* to, DeviceAddress from, std::size_t bytes) {
  if (bytes == 0) return;
  call("cuMemcpyDtoHAsync_v2", driver_.memcpy_dtoh_async(to, from, bytes, stream_));
  synchronize();
}

LoadedImage CudaDevice::load(const CodeImage& image) {
  if (const auto known = handles_.find(image.name); known != handles_.end()) return known->second;
  images_.push_back({load_module(driver_, image, info_.sm), {}});
  const LoadedModule& code = images_.back().code;
  LoadedImage loaded{images_.size(), code.description, code.hash, code.is_patched};
  handles_.emplace(image.name, loaded);
  return loaded;
}

CudaDevice::Image& CudaDevice::image_of(const LoadedImage& image) {
  if (image.handle == 0 || image.handle > images_.size()) {
    throw StatusError(Status::bad_argument(
        fmt::format("image handle {} is not one that this device loaded", image.handle)));
  }
  return images_[image.handle - 1];
}

CudaDevice::Entry& CudaDevice::entry_of(Image& image, const std::string& name) {
  const auto known = image.entries.find(name);
  if (known != image.entries.end()) return known->second;
  Entry entry{.name = name};
  const Result result =
      driver_.module_get_function(&entry.function, image.code.module, name.c_str());
  if (result == kNotFound) {
    throw StatusError(Status::bad_argument(
        fmt::format("entry {} is not in the image ({})", name, image.code.description)));
  }
  call("cuModuleGetFunction", result);
  return image.entries.emplace(name, entry).first->second;
}

// HW: a block gets more than 48 KB of dynamic shared memory only by this attribute (CUDA C++
// Programming Guide, shared memory). Static shared memory counts too, so it is set for any size.
void CudaDevice::allow_shared(Entry& entry, int bytes) {
  if (bytes <= entry.dynamic_shared_bytes) return;
  call("cuFuncSetAttribute",
       driver_.func_set_attribute(entry.function, kMaxDynamicSharedBytes, bytes));
  entry.dynamic_shared_bytes = bytes;
}

// HW: clusters of more than 8 are not portable and must be allowed (CUDA C++ Programming Guide,
// clusters).
LoadedEntry CudaDevice::entry(const LoadedImage& image, const std::string& name,
                              const LaunchShape& shape) {
  if (shape.grid < 1 || shape.grid > std::numeric_limits<int>::max()) {
    throw StatusError(Status::bad_argument(
        fmt::format("grid of {} is {} blocks; a launch has 1 to 2^31 - 1", name, shape.grid)));
  }
  Entry& entry = entry_of(image_of(image), name);
  allow_shared(entry, shape.shared_bytes);
  if (shape.cluster[0] * shape.cluster[1] * shape.cluster[2] > 8) {
    call("cuFuncSetAttribute", driver_.func_set_attribute(entry.function, kNonPortableCluster, 1));
  }
  return {reinterpret_cast<std::uint64_t>(&entry)};
}

void CudaDevice::launch(const LoadedEntry& loaded, const LaunchShape& shape,
                        std::span<const std::byte> params, std::span<const std::size_t> offsets,
                        void* given) {
  const Entry& entry = *reinterpret_cast<const Entry*>(loaded.handle);
  const Stream stream = given ? static_cast<Stream>(given) : stream_;
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
  // one is at 0x210 (sm_90), so only the driver knows the places of several. It counts by itself; a
  // stand-in looks for the null at the end.
  if (offsets.size() == 1) {
    std::array<void*, 2> one = {first + offsets[0], nullptr};
    return launch_with(entry, shape, stream, one.data(), nullptr);
  }
  std::vector<void*> each;
  for (const std::size_t offset : offsets) each.push_back(first + offset);
  each.push_back(nullptr);
  launch_with(entry, shape, stream, each.data(), nullptr);
}

void CudaDevice::launch_with(const Entry& entry, const LaunchShape& shape, Stream stream,
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

// WHY: the name is put together only where there is something to say; calls are to take less than
// a microsecond.
void CudaDevice::check_launch(const char* name, const Entry& entry, Result result) const {
  if (result != kSuccess) call(name + entry.name, result);
}

// Launches that need attributes: clusters, and grids that may start before the last one has ended.
void CudaDevice::launch_extended(const Entry& entry, const LaunchShape& shape, Stream stream,
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
  const Result result =
      driver_.tensor_map_replace_address(map.data(), reinterpret_cast<void*>(address));
  if (result != kSuccess) call("cuTensorMapReplaceAddress", result);
}

TensorMapBytes CudaDevice::encode_tensor_map(const TensorMapDesc& desc) {
  require(tessera::check(desc));
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

void CudaDevice::synchronize() { call("cuStreamSynchronize", driver_.stream_synchronize(stream_)); }

std::uint64_t CudaDevice::record_mark() {
  if (marks_.size() < kLiveMarks) {
    Event event = nullptr;
    call("cuEventCreate", driver_.event_create(&event, 0));
    marks_.push_back(event);
  }
  call("cuEventRecord", driver_.event_record(marks_[next_mark_ % kLiveMarks], stream_));
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
  float milliseconds = 0;
  call("cuEventSynchronize", driver_.event_synchronize(last));
  call("cuEventElapsedTime", driver_.event_elapsed_time(&milliseconds, first, last));
  return milliseconds;
}

}  // namespace

std::unique_ptr<Device> make_device(const char* library) {
  return std::make_unique<CudaDevice>(library);
}

}  // namespace tessera::cuda

namespace tessera {

std::unique_ptr<Device> make_cuda_device() { return cuda::make_device(cuda::kDriverLibrary); }

}  // namespace tessera
