// Copies between pinned host memory and a GPU on separate streams, and the driver's information
// about an address.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "device/cuda/device_class.h"

namespace tessera::cuda {
namespace {

// HW: CU_STREAM_NON_BLOCKING, CU_EVENT_DISABLE_TIMING (CUDA driver API reference, release 13.0).
constexpr unsigned kNonBlocking = 1, kWithoutTiming = 2;

Copy2d::Side host_side(const void* memory, std::size_t pitch) {
  return {.type = kHostMemory, .host = memory, .pitch = pitch};
}
Copy2d::Side device_side(DevicePointer address, std::size_t pitch) {
  return {.type = kDeviceMemory, .device = address, .pitch = pitch};
}

// HW: CU_DEVICE_ATTRIBUTE_MAX_PITCH of all GPUs.
constexpr std::size_t kLargestPitch = 0x7fffffff;

}  // namespace

// Copies all lines in one call, or line by line if they are further apart than one call allows.
template <class CopyOf>
void CudaDevice::copy_lines(const CopyShape& shape, void* stream, CopyOf copy_of) {
  if (shape.width == 0 || shape.rows == 0) return;
  const Entered context(driver_, context_);
  const bool is_one = std::max(shape.host_pitch, shape.device_pitch) <= kLargestPitch;
  const CopyShape lines = is_one ? shape : CopyShape{shape.width, 1, shape.width, shape.width};
  for (std::size_t line = 0; line < shape.rows; line += lines.rows) {
    const Copy2d copy = copy_of(lines, line);
    call("cuMemcpy2DAsync_v2", driver_.memcpy_2d_async(&copy, stream_of(stream)));
  }
}

AddressKind CudaDevice::kind_of(std::uint64_t address) const {
  const Entered context(driver_, context_);
  unsigned type = 0;
  int is_managed = 0, device = -1;
  std::array<PointerAttribute, 3> which = {kPointerMemoryType, kPointerIsManaged, kPointerDevice};
  std::array<void*, 3> values = {&type, &is_managed, &device};
  // HW: for an address that the driver does not know, the call succeeds and all values are 0.
  const Result result =
      driver_.pointer_get_attributes(which.size(), which.data(), values.data(), address);
  if (result == kInvalidValue) return AddressKind::kUnknown;
  call("cuPointerGetAttributes", result);
  if (is_managed != 0) return AddressKind::kHere;
  if (type == kHostMemory) return AddressKind::kHost;
  if (type != kDeviceMemory) return AddressKind::kUnknown;
  return device == context_.gpu() ? AddressKind::kHere : AddressKind::kOther;
}

void* CudaDevice::allocate_pinned(std::size_t bytes) {
  const Entered context(driver_, context_);
  const RelaxedCapture relaxed(driver_);
  void* memory = nullptr;
  const Result result = driver_.mem_host_alloc(&memory, bytes, 0);
  if (result == kOutOfMemory) {
    throw OutOfMemory(
        fmt::format("not enough host memory: {} pinned bytes asked (cuMemHostAlloc)", bytes));
  }
  call("cuMemHostAlloc", result);
  return memory;
}

void CudaDevice::free_pinned(void* memory) {
  const Entered context(driver_, context_);
  const RelaxedCapture relaxed(driver_);
  call("cuMemFreeHost", driver_.mem_free_host(memory));
}

void CudaDevice::copy_in(DeviceAddress to, const void* from, const CopyShape& shape, void* stream) {
  const auto* first = static_cast<const std::byte*>(from);
  copy_lines(shape, stream, [&](const CopyShape& lines, std::size_t line) {
    return Copy2d{host_side(first + line * shape.host_pitch, lines.host_pitch),
                  device_side(to + line * shape.device_pitch, lines.device_pitch), lines.width,
                  lines.rows};
  });
}

void CudaDevice::copy_out(void* to, DeviceAddress from, const CopyShape& shape, void* stream) {
  auto* first = static_cast<std::byte*>(to);
  copy_lines(shape, stream, [&](const CopyShape& lines, std::size_t line) {
    return Copy2d{device_side(from + line * shape.device_pitch, lines.device_pitch),
                  host_side(first + line * shape.host_pitch, lines.host_pitch), lines.width,
                  lines.rows};
  });
}

void* CudaDevice::make_stream() {
  const Entered context(driver_, context_);
  StreamHandle stream = nullptr;
  call("cuStreamCreate", driver_.stream_create(&stream, kNonBlocking));
  return stream;
}

void CudaDevice::destroy_stream(void* stream) {
  const Entered context(driver_, context_);
  call("cuStreamDestroy_v2", driver_.stream_destroy(static_cast<StreamHandle>(stream)));
}

void* CudaDevice::make_event() {
  const Entered context(driver_, context_);
  Event event = nullptr;
  call("cuEventCreate", driver_.event_create(&event, kWithoutTiming));
  return event;
}

void CudaDevice::destroy_event(void* event) {
  const Entered context(driver_, context_);
  call("cuEventDestroy_v2", driver_.event_destroy(static_cast<Event>(event)));
}

void CudaDevice::record(void* event, void* stream) {
  const Entered context(driver_, context_);
  call("cuEventRecord", driver_.event_record(static_cast<Event>(event), stream_of(stream)));
}

void CudaDevice::wait(void* stream, void* event) {
  const Entered context(driver_, context_);
  call("cuStreamWaitEvent",
       driver_.stream_wait_event(stream_of(stream), static_cast<Event>(event), 0));
}

void CudaDevice::wait_for(void* event) {
  const Entered context(driver_, context_);
  const RelaxedCapture relaxed(driver_);
  call("cuEventSynchronize", driver_.event_synchronize(static_cast<Event>(event)));
}

}  // namespace tessera::cuda
